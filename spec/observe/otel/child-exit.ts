/** A program that process.spec.ts runs: it ends a span, with or without a shutdown, and must exit by itself. */
import { tracing } from "../../../lib/tracing/tracing.js";
import { Telemetry } from "../../../lib/entries/observe-otel.js";

const [endpoint = "", shutdown, timeout] = process.argv.slice(2);
const telemetry = Telemetry.builder("shop").endpoint(endpoint).timeout(Number(timeout)).build();
const registry = tracing.registry().with(telemetry.tracingLayer());
tracing.withSubscriber(registry, () =>
  tracing
    .target("shop::links")
    .span("import")
    .run(() => {}),
);
if (shutdown === "shutdown") await telemetry.shutdown().catch((error: unknown) => console.log(String(error)));
