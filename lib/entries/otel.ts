/**
 * `@stagecraft/framework/observe/otel`: spans, sent to a collector over OTLP/gRPC.
 *
 * Needs the packages `@opentelemetry/api`, `@opentelemetry/sdk-trace-base` and `@opentelemetry/exporter-trace-otlp-grpc` beside the
 * framework; importing it where one is missing throws `E_PEER_MISSING` with what to install.
 */
export { DEFAULT_ENDPOINT, Telemetry } from "../otel/telemetry.js";
export { TelemetryBuilder } from "../otel/telemetry.js";
export { SPANS_DROPPED_TOTAL, type SpanCounter } from "../otel/delivery.js";
