/** Run by process.spec.ts in a process of its own: prints what of the process a telemetry's whole life changed. */
import { Collector } from "./collector.js";

/** Everything of a process that a library could reach and should not. */
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
// Node makes a global of its own when one of these is first used.
const answer = new Response();
const before = globals();

const { Telemetry } = await import("../../lib/entries/otel.js");
const { tracing } = await import("../../lib/tracing/tracing.js");
const imported = globals();
const telemetry = Telemetry.builder("shop").endpoint(collector.endpoint).build();
await tracing.withSubscriber(tracing.registry().with(telemetry.tracingLayer()), async () => {
  const log = tracing.target("shop::links");
  await log.span("import").run(async () => {
    await telemetry.tracedFetch(() => Promise.resolve(answer))("http://127.0.0.1/");
  });
});
const used = globals();
await telemetry.shutdown();
const over = globals();
collector.stop();

console.log(JSON.stringify({ before, imported, used, over, spans: collector.spans.length }));
