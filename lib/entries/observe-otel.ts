/**
 * The entry point `@stagecraft/framework/observe/otel`: sends spans to a collector over OTLP/gRPC.
 *
 * Needs the packages `@opentelemetry/api` and `@opentelemetry/exporter-trace-otlp-grpc`, which brings the SDK. If one is missing, the
 * import throws `E_PEER_MISSING`, which names the command that installs it.
 */
export { DEFAULT_ENDPOINT, Telemetry, TelemetryBuilder } from "../observe/otel/telemetry.js";
export type { TracingLayer } from "../tracing/registry.js";
export { SPANS_DROPPED_TOTAL, type SpanCounter } from "../observe/otel/delivery.js";
