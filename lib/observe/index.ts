export { Metrics, MetricsError } from "./metrics.js";
