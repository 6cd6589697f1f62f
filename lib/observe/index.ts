export { Metrics, MetricsError } from "./metrics.js";
export { MAX_REQUEST_ID_BYTES, RequestId } from "./request-id.js";
export { RequestIdError } from "./request-id-error.js";
export { FLAG_SAMPLED, TraceContext } from "./trace-context.js";
export { MAX_TRACESTATE_MEMBERS } from "./tracestate.js";
export { AccessLogLayer } from "./access-log-layer.js";
export { MetricsLayer } from "./metrics-layer.js";
export { RequestIdLayer } from "./request-id-layer.js";
export { TraceContextLayer } from "./trace-context-layer.js";
