/**
 * A program that process.spec.ts runs with `--expose-gc`: it records long texts and slices of them in spans without a collector, and prints
 * the growth of the heap in MiB.
 */
import { setImmediate as turn } from "node:timers/promises";
import { tracing } from "../../../lib/tracing/tracing.js";
import { Telemetry } from "../../../lib/entries/observe-otel.js";

const SPANS = 100;
/** Below the size from which V8 stores a string outside its heap. */
const LENGTH = 1_000_000;

const telemetry = Telemetry.builder("shop")
  .endpoint(process.argv[2] ?? "")
  .timeout(1000)
  .build();
const log = tracing.target("shop::links");

function heap(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

await tracing.withSubscriber(tracing.registry().with(telemetry.tracingLayer()), async () => {
  const before = heap();
  for (let i = 0; i < SPANS; i++) {
    const body = Buffer.alloc(LENGTH, `${i} `).toString("latin1");
    log.span("import", { body, head: body.slice(0, 50), words: [body.slice(0, 20)] }).run(() => {});
    await turn();
  }
  console.log(JSON.stringify({ grown: heap() - before }));
});
await telemetry.shutdown().catch(() => {});
