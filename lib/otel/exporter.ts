/** The official exporter and the official SDK, told everything that they would otherwise look for in the environment of the process. */
import type { IdGenerator, SpanExporter, SpanProcessor } from "@opentelemetry/sdk-trace-base";
import type { TracerProvider } from "@opentelemetry/api";
import { FrameworkError } from "../errors/framework-error.js";
import { MAX_ATTRIBUTES } from "./attributes.js";
import { otlp, sdk } from "./peers.js";
import { ServiceResource } from "./service-resource.js";
import { MAX_TEXT } from "./shown-text.js";
import type { TelemetrySettings } from "./telemetry-settings.js";

/** Enough for all that can wait at once. */
const CONCURRENT_EXPORTS = 128;

/**
 * What is not set is the exporter's business: its default endpoint and timeout, and their standard environment variables.
 *
 * @throws FrameworkError `E_TELEMETRY_ENDPOINT` where it refuses what it finds there
 */
export function newExporter({ endpoint, timeoutMs }: TelemetrySettings): SpanExporter {
  try {
    return new otlp.OTLPTraceExporter({
      concurrencyLimit: CONCURRENT_EXPORTS,
      ...(endpoint !== undefined && { url: endpoint }),
      ...(timeoutMs !== undefined && { timeoutMillis: timeoutMs }),
    });
  } catch (cause) {
    throw new FrameworkError(
      "the exporter refuses its settings: look at the environment variables OTEL_EXPORTER_OTLP_…, or call .endpoint(url)",
      { code: "E_TELEMETRY_ENDPOINT", cause },
    );
  }
}

/** A provider that nobody is told of: every span, one resource attribute, no detector, and limits of ours. */
export function newProvider(serviceName: string, idGenerator: IdGenerator, processor: SpanProcessor): TracerProvider {
  return new sdk.Provider({
    idGenerator,
    sampler: new sdk.AlwaysOnSampler(),
    resource: new ServiceResource(serviceName),
    spanProcessors: [processor],
    // Values are cut, by us, at a character; the SDK would look for a limit in the environment.
    spanLimits: { attributeCountLimit: MAX_ATTRIBUTES, attributeValueLengthLimit: MAX_TEXT },
  });
}
