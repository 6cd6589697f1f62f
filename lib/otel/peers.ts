/**
 * Loads the optional OpenTelemetry packages. Every value of these packages comes from this file, so that an error names the package that
 * is missing or has the wrong version, and the command that installs it.
 *
 * The SDK is `@opentelemetry/sdk-trace-base` up to version 2, and `@opentelemetry/sdk-trace` from version 3, which needs Node 22.15.
 *
 * The import registers nothing globally: no provider, propagator, context manager or logger.
 */
import type { TracerProvider } from "@opentelemetry/api";
import type { AlwaysOnSampler, TracerConfig } from "@opentelemetry/sdk-trace-base";
import {
  isMissing,
  missingPeer,
  expectClasses,
  expectPeer,
  isInstalled,
  isOlder,
  requirePackage,
  requirePeer,
} from "../errors/optional-package.js";

const ENTRY = "@stagecraft/framework/observe/otel";
const EXPORTER_NAME = "@opentelemetry/exporter-trace-otlp-grpc";
// The exporter from 0.300 and the SDK from 3 need API 1.10 and Node 22.15. Version 2 of the SDK cannot be installed beside that API.
const canRunNewer = !isOlder(process.versions.node, "22.15.0");
const hasNewerExporter = isInstalled(EXPORTER_NAME, "0.300.0");
const isNewer = canRunNewer && (hasNewerExporter || isInstalled("@opentelemetry/api", "1.10.0"));
const INSTALL = isNewer
  ? `@opentelemetry/api@1.10 @opentelemetry/sdk-trace@3 ${EXPORTER_NAME}@0.301`
  : `@opentelemetry/api@1.9.1 @opentelemetry/sdk-trace-base@2.12.1 ${EXPORTER_NAME}@0.223.1`;

const AT = { entry: ENTRY, install: INSTALL };
const EXPORTER = { ...AT, name: EXPORTER_NAME, from: "0.200.0", before: canRunNewer ? undefined : "0.300.0" };
const API = { ...AT, name: "@opentelemetry/api", from: hasNewerExporter ? "1.10.0" : "1.9.0" };
const SDK = { ...AT, name: "@opentelemetry/sdk-trace-base", from: "2.0.0" };
const SDK_3 = { ...AT, name: "@opentelemetry/sdk-trace", from: "2.9.0", before: canRunNewer ? undefined : "3.0.0" };

for (const peer of [EXPORTER, API, SDK]) expectPeer(peer);

/** The part of the SDK that this room uses. */
interface Sdk {
  readonly Provider: new (config: TracerConfig) => TracerProvider;
  readonly AlwaysOnSampler: typeof AlwaysOnSampler;
}

export const api = requirePeer(API) as typeof import("@opentelemetry/api");

export const sdk = loadSdk();

export const otlp = requirePeer(EXPORTER) as typeof import("@opentelemetry/exporter-trace-otlp-grpc");
expectClasses(EXPORTER, otlp, ["OTLPTraceExporter"]);

function loadSdk(): Sdk {
  try {
    return sdkUpTo2(requirePackage(SDK.name) as typeof import("@opentelemetry/sdk-trace-base"));
  } catch (cause) {
    if (!isMissing(cause, SDK.name)) throw cause;
    return sdkFrom3(cause);
  }
}

function sdkUpTo2(base: typeof import("@opentelemetry/sdk-trace-base")): Sdk {
  expectClasses(SDK, base, ["BasicTracerProvider", "AlwaysOnSampler"]);
  return { Provider: base.BasicTracerProvider, AlwaysOnSampler: base.AlwaysOnSampler };
}

/** If no SDK is installed, the error names the SDK that fits the other packages. */
function sdkFrom3(noOlderSdk: unknown): Sdk {
  expectPeer(SDK_3);
  if (!isNewer && !isInstalled(SDK_3.name, "0.0.0")) missingPeer(ENTRY, SDK.name, INSTALL)(noOlderSdk);
  const found = requirePeer(SDK_3) as typeof import("@opentelemetry/sdk-trace");
  expectClasses(SDK_3, found, ["TracerProvider", "AlwaysOnSampler"]);
  return { Provider: found.TracerProvider, AlwaysOnSampler: found.AlwaysOnSampler };
}
