/**
 * The OpenTelemetry packages, which only those install who export spans. Everything here that is a value of theirs comes from this
 * file, so that a missing one is named with its cure instead of as a path that does not resolve.
 *
 * Importing them adds nothing global: no provider, propagator, context manager or logger is registered, here or elsewhere.
 */
import { missingPeer } from "../kernel/missing-peer.js";

const ENTRY = "@stagecraft/framework/observe/otel";
// The SDK and the exporter are released in pairs, and of later pairs none runs on the oldest Node that we run on.
const INSTALL =
  "@opentelemetry/api@1.9.1 @opentelemetry/sdk-trace-base@2.12.1 @opentelemetry/exporter-trace-otlp-grpc@0.223.1";

export const api = await import("@opentelemetry/api").catch(missingPeer(ENTRY, "@opentelemetry/api", INSTALL));

export const sdk = await import("@opentelemetry/sdk-trace-base").catch(
  missingPeer(ENTRY, "@opentelemetry/sdk-trace-base", INSTALL),
);

export const otlp = await import("@opentelemetry/exporter-trace-otlp-grpc").catch(
  missingPeer(ENTRY, "@opentelemetry/exporter-trace-otlp-grpc", INSTALL),
);
