/**
 * The entry point `@stagecraft/framework/observe`: logs, request ids, metrics and trace context. The application holds them as values.
 * The import has no side effects; only `installLogging` changes the process.
 */
export { tracing, type Target } from "../tracing/tracing.js";
export type { Registry, TracingLayer } from "../tracing/registry.js";
export type { Span } from "../tracing/span.js";
export type {
  Fields,
  Level,
  LevelFilter,
  LogEvent,
  SpanData,
  SpanOutcome,
  Subscriber,
  TargetFilter,
} from "../tracing/subscriber.js";

export { MetricsError, ObserveError, RequestIdError, type RequestIdErrorReason } from "../observe/errors.js";
export { MAX_REQUEST_ID_BYTES, RequestId } from "../observe/request-id.js";
export {
  ALL,
  CACHE_GET,
  DB_QUERY,
  EVENT_LISTENER,
  isStable,
  JOB_HANDLE,
  PAGE_RENDER,
  REQUEST,
  SCHEDULE_TICK,
} from "../observe/request-span.js";
export { FLAG_SAMPLED, MAX_TRACESTATE_MEMBERS, TraceContext } from "../observe/trace-context.js";

export { ConsoleLog } from "../observe/logging/console-log.js";
export { Filter, FILTER_ENV } from "../observe/logging/filter.js";
export { installLogging } from "../observe/logging/install.js";
export { JsonLog } from "../observe/logging/json-log.js";
export { isSensitive, REDACTED } from "../observe/logging/redaction.js";
export { CaptureSink, LogSink } from "../observe/logging/sink.js";
export { StderrSink } from "../observe/logging/stderr-sink.js";
export * as redact from "./observe-redact.js";

export type { LabelValue } from "../observe/metrics/labels.js";
export { type GaugeOptions, type GaugeRule, Metrics, type MetricsOptions } from "../observe/metrics/metrics.js";

export { AccessLogLayer } from "../stages/access-log.js";
export { MetricsLayer, type MetricsLayerOptions } from "../stages/metrics.js";
export { RequestIdLayer } from "../stages/request-id.js";
export { TraceContextLayer } from "../stages/trace-context.js";
