/**
 * The entry point `@stagecraft/framework/observe`: logs, request ids, metrics and trace context, each a value that the
 * application holds. Importing it registers nothing; the one thing that is process-wide is what `installLogging` installs.
 */
export { tracing } from "../kernel/tracing.js";
export { CaptureSink } from "./capture-sink.js";
export { ConsoleLog } from "./console-log.js";
export { Filter, FILTER_ENV } from "./filter.js";
export { installLogging } from "./install.js";
export { JsonLog } from "./json-log.js";
export { ObserveError } from "./observe-error.js";
export { isSensitive, REDACTED } from "./redact.js";
export * as redact from "./redact.js";
export { LogSink } from "./sink.js";
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
} from "./span-names.js";
export { StderrSink } from "./stderr-sink.js";
export { Metrics, MetricsError } from "./metrics.js";
export { MAX_REQUEST_ID_BYTES, RequestId } from "./request-id.js";
export { RequestIdError } from "./request-id-error.js";
export { FLAG_SAMPLED, TraceContext } from "./trace-context.js";
export { MAX_TRACESTATE_MEMBERS } from "./tracestate.js";
export { AccessLogLayer } from "./access-log-layer.js";
export { MetricsLayer } from "./metrics-layer.js";
export { RequestIdLayer } from "./request-id-layer.js";
export { TraceContextLayer } from "./trace-context-layer.js";
