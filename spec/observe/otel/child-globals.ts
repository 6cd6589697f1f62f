/** A program that process.spec.ts runs: it prints the global state before, during and after the life of a telemetry. */
import { Collector } from "./collector.js";

/** The global state of a process, which a library should not change. */
function globals(): Record<string, string[]> {
  const keys = Reflect.ownKeys(globalThis).map(String);
  return {
    keys: keys.toSorted(),
    listeners: process.eventNames().map((name) => `${String(name)}: ${process.listenerCount(name)}`),
    environment: Object.entries(process.env).map(([name, value]) => `${name}=${value}`),
    errors: [`${Error.stackTraceLimit}`, typeof Error.prepareStackTrace],
  };
}

const collector = await Collector.start();
// Node creates a global at the first use of `Response`.
const response = new Response();
const before = globals();

const { Telemetry } = await import("../../../lib/entries/observe-otel.js");
const { tracing } = await import("../../../lib/tracing/tracing.js");
const imported = globals();
const telemetry = Telemetry.builder("shop").endpoint(collector.endpoint).build();
await tracing.withSubscriber(tracing.registry().with(telemetry.tracingLayer()), async () => {
  const log = tracing.target("shop::links");
  await log.span("import").run(async () => {
    await telemetry.tracedFetch(() => Promise.resolve(response))("http://127.0.0.1/");
  });
});
const used = globals();
await telemetry.shutdown();
const after = globals();
collector.stop();

console.log(JSON.stringify({ before, imported, used, after, spans: collector.spans.length }));
