/**
 * Loads the optional OpenTelemetry packages. Every value and type of these packages comes from this file, so that an error names the
 * package that is missing or has the wrong version, and the command that installs it.
 *
 * The SDK is a dependency of the exporter and is resolved from the exporter's package, because the name of the SDK's package depends on the
 * version. package.json names no SDK, because npm would then choose that version also for applications that use another one.
 *
 * The import registers no provider, propagator, context manager or logger globally.
 */
import { createRequire } from "node:module";
import type { Context, Span, TracerProvider } from "@opentelemetry/api";
import type { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-grpc";
import {
  expectClasses,
  expectPeer,
  isInstalled,
  isMissing,
  isOlder,
  requirePackage,
  requirePeer,
} from "../../errors/optional-package.js";

const ENTRY = "@stagecraft/framework/observe/otel";
const EXPORTER_NAME = "@opentelemetry/exporter-trace-otlp-grpc";
// The exporter from 0.300 and the SDK from 3 need API 1.10 and Node 22.15.
const canRunNewer = !isOlder(process.versions.node, "22.15.0");
const hasNewerExporter = isInstalled(EXPORTER_NAME, "0.300.0");
const isNewer = canRunNewer && (hasNewerExporter || isInstalled("@opentelemetry/api", "1.10.0"));
const INSTALL = isNewer
  ? `@opentelemetry/api@1.10 ${EXPORTER_NAME}@0.301`
  : `@opentelemetry/api@1.9.1 ${EXPORTER_NAME}@0.223.1`;

const AT = { entry: ENTRY, install: INSTALL };
const EXPORTER = { ...AT, name: EXPORTER_NAME, from: "0.200.0", before: canRunNewer ? undefined : "0.300.0" };
const API = { ...AT, name: "@opentelemetry/api", from: hasNewerExporter ? "1.10.0" : "1.9.0" };
const SDK = { older: "@opentelemetry/sdk-trace-base", newer: "@opentelemetry/sdk-trace" };

for (const peer of [EXPORTER, API]) expectPeer(peer);

export type SpanExporter = Pick<OTLPTraceExporter, "export" | "shutdown">;
export type ReadableSpan = Parameters<SpanExporter["export"]>[0][number];

/** The interface that the SDK calls with each span. */
export interface SpanProcessor {
  onStart(span: Span, parent: Context): void;
  onEnd(span: ReadableSpan): void;
  forceFlush(): Promise<void>;
  shutdown(): Promise<void>;
}

export interface IdGenerator {
  generateTraceId(): string;
  generateSpanId(): string;
}

export interface ProviderConfig {
  readonly idGenerator: IdGenerator;
  readonly sampler: object;
  readonly resource: ReadableSpan["resource"];
  readonly spanProcessors: readonly SpanProcessor[];
  readonly spanLimits: { readonly attributeCountLimit: number; readonly attributeValueLengthLimit: number };
}

/** The part of the SDK that this room uses. */
interface Sdk {
  readonly Provider: new (config: ProviderConfig) => TracerProvider;
  readonly AlwaysOnSampler: new () => object;
}

export const api = requirePeer(API) as typeof import("@opentelemetry/api");

export const otlp = requirePeer(EXPORTER) as typeof import("@opentelemetry/exporter-trace-otlp-grpc");
expectClasses(EXPORTER, otlp, ["OTLPTraceExporter"]);

export const sdk = loadSdk();

/** Both packages export the same classes, but for the name of the provider. */
function loadSdk(): Sdk {
  const found = requireFromExporter() as Readonly<Record<string, unknown>>;
  const provider = "TracerProvider" in found ? "TracerProvider" : "BasicTracerProvider";
  expectClasses(EXPORTER, found, [provider, "AlwaysOnSampler"]);
  return { Provider: found[provider], AlwaysOnSampler: found["AlwaysOnSampler"] } as Sdk; // Checked in the line above.
}

function requireFromExporter(): unknown {
  const require = createRequire(requirePackage.resolve(EXPORTER_NAME));
  const [likely, other] = hasNewerExporter ? [SDK.newer, SDK.older] : [SDK.older, SDK.newer];
  try {
    return require(likely);
  } catch (cause) {
    if (!isMissing(cause, likely)) throw cause;
    return require(other);
  }
}
