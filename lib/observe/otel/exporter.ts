/**
 * The official OTLP exporter and the official tracer provider. Every setting that they would read from the environment is given here,
 * except the exporter's endpoint and timeout.
 */
import type { TracerProvider } from "@opentelemetry/api";
import { FrameworkError } from "../../errors/framework-error.js";
import { MAX_ATTRIBUTES, MAX_TEXT_LENGTH } from "./attributes.js";
import { type IdGenerator, otlp, type ReadableSpan, sdk, type SpanExporter, type SpanProcessor } from "./peers.js";
import type { TelemetrySettings } from "./settings.js";
import { setupError } from "../../errors/setup-error.js";

/** Enough for all batches of a full span queue. */
const CONCURRENT_EXPORTS = 128;

/**
 * An unset endpoint or timeout is left to the exporter: its default, or its standard environment variable.
 *
 * @throws FrameworkError `E_TELEMETRY_ENDPOINT` if the exporter refuses the environment variables
 */
export function createExporter({ endpoint, timeoutMs }: TelemetrySettings): SpanExporter {
  try {
    return new otlp.OTLPTraceExporter({
      concurrencyLimit: CONCURRENT_EXPORTS,
      ...(endpoint !== undefined && { url: endpoint }),
      ...(timeoutMs !== undefined && { timeoutMillis: timeoutMs }),
    });
  } catch (cause) {
    throw setupError(
      new FrameworkError(
        "the exporter refuses its settings: check the environment variables OTEL_EXPORTER_OTLP_…, or call .endpoint(url)",
        { code: "E_TELEMETRY_ENDPOINT", cause },
      ),
    );
  }
}

/** A provider that is not registered globally. It samples every span and detects no resource. */
export function createProvider(
  serviceName: string,
  idGenerator: IdGenerator,
  processor: SpanProcessor,
): TracerProvider {
  return new sdk.Provider({
    idGenerator,
    sampler: new sdk.AlwaysOnSampler(),
    resource: new ServiceResource(serviceName),
    spanProcessors: [processor],
    // Texts are already truncated. Without a limit here the SDK reads one from the environment.
    spanLimits: { attributeCountLimit: MAX_ATTRIBUTES, attributeValueLengthLimit: MAX_TEXT_LENGTH },
  });
}

type TelemetryResource = ReadableSpan["resource"];

/** A resource with `service.name` only. The SDK's resource would add further attributes. */
class ServiceResource implements TelemetryResource {
  readonly attributes: TelemetryResource["attributes"];

  constructor(serviceName: string) {
    this.attributes = Object.freeze({ "service.name": serviceName });
  }

  /** Ignores the other resource. */
  merge(): TelemetryResource {
    return this;
  }

  getRawAttributes(): ReturnType<TelemetryResource["getRawAttributes"]> {
    return Object.entries(this.attributes);
  }
}
