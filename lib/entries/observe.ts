/**
 * The entry point `@stagecraft/framework/observe`: logs, request ids, metrics and trace context, each a value that the
 * application holds. Importing it registers nothing; the one thing that is process-wide is what `installLogging` installs.
 */
export { tracing } from "../tracing/tracing.js";
export { CaptureSink } from "../observe/capture-sink.js";
export { ConsoleLog } from "../observe/console-log.js";
export { Filter, FILTER_ENV } from "../observe/filter.js";
export { installLogging } from "../observe/install.js";
export { JsonLog } from "../observe/json-log.js";
export { ObserveError } from "../observe/observe-error.js";
export { isSensitive, REDACTED } from "../observe/redact.js";
export * as redact from "./observe-redact.js";
export { LogSink } from "../observe/sink.js";
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
} from "../observe/span-names.js";
export { StderrSink } from "../observe/stderr-sink.js";
export { Metrics } from "../observe/metrics.js";
export { MetricsError } from "../observe/metrics-error.js";
export { MAX_REQUEST_ID_BYTES, RequestId } from "../observe/request-id.js";
export { RequestIdError } from "../observe/request-id-error.js";
export { FLAG_SAMPLED, TraceContext } from "../observe/trace-context.js";
export { MAX_TRACESTATE_MEMBERS } from "../observe/tracestate.js";
export { AccessLogLayer } from "../stages/access-log.js";
export { MetricsLayer } from "../stages/metrics.js";
export { RequestIdLayer } from "../stages/request-id.js";
export { TraceContextLayer } from "../stages/trace-context.js";
