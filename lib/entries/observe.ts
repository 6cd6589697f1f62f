/**
 * The entry point `@stagecraft/framework/observe`: logs, request ids, metrics and trace context, each a value that the
 * application holds. Importing it registers nothing; the one thing that is process-wide is what `installLogging` installs.
 */
export { tracing } from "../tracing/tracing.js";
export { CaptureSink } from "../observe/logging/sink.js";
export { ConsoleLog } from "../observe/logging/console-log.js";
export { Filter, FILTER_ENV } from "../observe/logging/filter.js";
export { installLogging } from "../observe/logging/install.js";
export { JsonLog } from "../observe/logging/json-log.js";
export { ObserveError } from "../observe/errors.js";
export { isSensitive, REDACTED } from "../observe/logging/redaction.js";
export * as redact from "./observe-redact.js";
export { LogSink } from "../observe/logging/sink.js";
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
export { StderrSink } from "../observe/logging/stderr-sink.js";
export { Metrics } from "../observe/metrics/metrics.js";
export { MetricsError } from "../observe/errors.js";
export { MAX_REQUEST_ID_BYTES, RequestId } from "../observe/request-id.js";
export { RequestIdError } from "../observe/errors.js";
export { FLAG_SAMPLED, TraceContext } from "../observe/trace-context.js";
export { MAX_TRACESTATE_MEMBERS } from "../observe/trace-context.js";
export { AccessLogLayer } from "../stages/access-log.js";
export { MetricsLayer } from "../stages/metrics.js";
export { RequestIdLayer } from "../stages/request-id.js";
export { TraceContextLayer } from "../stages/trace-context.js";
