/** prom-client with the two request metrics of our own stage, counted by hand where a peer has no plugin that does. */
import prometheus from "prom-client";
import { BUCKETS } from "./observability.mjs";

const requests = new prometheus.Counter({
  name: "http_requests_total",
  help: "Total HTTP requests handled.",
  labelNames: ["method", "status"],
});

const durations = new prometheus.Histogram({
  name: "http_request_duration_seconds",
  help: "HTTP request duration in seconds.",
  labelNames: ["method"],
  buckets: BUCKETS,
});

export function count(method, status, milliseconds) {
  requests.inc({ method, status });
  durations.observe({ method }, milliseconds / 1000);
}
