/** The entry point `@stagecraft/framework/observe/metrics`: the metrics registry and its constants. */
export {
  DEFAULT_BUCKETS,
  HTTP_REQUEST_DURATION,
  HTTP_DEPRECATED_REQUESTS,
  HTTP_REQUESTS_TOTAL,
  type GaugeOptions,
  type GaugeRule,
  Metrics,
  PROMETHEUS_CONTENT_TYPE,
  type MetricsOptions,
} from "../observe/metrics/metrics.js";
export { MetricsError } from "../observe/errors.js";
export type { Labels, LabelValue } from "../observe/metrics/labels.js";
