/**
 * A program that process.spec.ts runs with `--expose-gc`: it ends many spans without a collector, and prints the growth of the heap in MiB
 * and the number of dropped spans.
 */
import { setImmediate as turn } from "node:timers/promises";
import { tracing } from "../../../lib/tracing/tracing.js";
import { Telemetry } from "../../../lib/entries/observe-otel.js";

/** Many times the limit of the queue. All of them would take a hundred megabytes. */
const SPANS = 80_000;
/** Fill the queue. */
const SPANS_BEFORE = 20_000;
const SPANS_PER_TURN = 500;

let dropped = 0;
const telemetry = Telemetry.builder("shop")
  .endpoint(process.argv[2] ?? "")
  .timeout(1000)
  .metrics({ increment: (_name, _labels, by) => void (dropped += by) })
  .build();
const log = tracing.target("shop::links");

async function load(spans: number): Promise<void> {
  for (let i = 0; i < spans; i++) {
    log.span("framework.request", { method: "GET", path: `/links/${i}` }).run(() => {});
    if (i % SPANS_PER_TURN === 0) await turn();
  }
}

function heap(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

await tracing.withSubscriber(tracing.registry().with(telemetry.tracingLayer()), async () => {
  await load(SPANS_BEFORE);
  const before = heap();
  await load(SPANS);
  console.log(JSON.stringify({ grown: heap() - before, dropped }));
});
await telemetry.shutdown().catch(() => {});
