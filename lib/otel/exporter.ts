/** The official exporter and the official SDK, told everything that they would otherwise look for in the environment of the process. */
import type { TracerConfig, IdGenerator, SpanExporter, SpanProcessor } from "@opentelemetry/sdk-trace-base";
import type { TracerProvider } from "@opentelemetry/api";
import { FrameworkError } from "../errors/framework-error.js";
import { MAX_ATTRIBUTES, MAX_TEXT_LENGTH } from "./attributes.js";
import { otlp, sdk } from "./peers.js";
import type { TelemetrySettings } from "./settings.js";

/**
 * Who the spans are from: `service.name` and nothing else (specification 2.9). The SDK's own ways to a resource add what they detect,
 * or come from a package of their own.
 */
type Resource = NonNullable<TracerConfig["resource"]>;

export class ServiceResource implements Resource {
  readonly attributes: Resource["attributes"];

  constructor(serviceName: string) {
    this.attributes = Object.freeze({ "service.name": serviceName });
  }

  /** Whatever else is offered is not taken. */
  merge(): Resource {
    return this;
  }

  getRawAttributes(): ReturnType<Resource["getRawAttributes"]> {
    return Object.entries(this.attributes);
  }
}

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
    spanLimits: { attributeCountLimit: MAX_ATTRIBUTES, attributeValueLengthLimit: MAX_TEXT_LENGTH },
  });
}
