/**
 * A program that process.spec.ts runs: it has no collector and no shutdown, does its last work while a refused batch waits for the next
 * attempt, and prints at its exit the number of timers that the telemetry had set.
 */
import { SystemClock, type Timer, type TimerOptions } from "../../../lib/runtime/clock.js";
import { tracing } from "../../../lib/tracing/tracing.js";
import { Telemetry } from "../../../lib/entries/observe-otel.js";

let timers = 0;
/** Keeps the process alive until the batch waits for its second attempt. */
const work = setInterval(() => {}, 1000);

class WatchedClock extends SystemClock {
  override setTimeout(callback: () => void, delayMs: number, options?: TimerOptions): Timer {
    timers++;
    if (timers === 2) clearInterval(work);
    return super.setTimeout(callback, delayMs, options);
  }
}

const telemetry = Telemetry.builder("shop")
  .endpoint(process.argv[2] ?? "")
  .clock(new WatchedClock())
  .build();
const registry = tracing.registry().with(telemetry.tracingLayer());
tracing.withSubscriber(registry, () =>
  tracing
    .target("shop::links")
    .span("import")
    .run(() => {}),
);
process.on("exit", () => console.log(timers));
