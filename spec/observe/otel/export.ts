/** Runs code with the layer of a telemetry that exports to a collector. */
import { tracing } from "../../../lib/tracing/tracing.js";
import { Telemetry } from "../../../lib/entries/observe-otel.js";
import { Collector } from "./collector.js";

/** Runs `work` with the layer of a new telemetry, shuts the telemetry down and returns the collector. */
export async function exported(work: (telemetry: Telemetry) => unknown): Promise<Collector> {
  const collector = await Collector.start();
  try {
    const telemetry = Telemetry.builder("shop").endpoint(collector.endpoint).build();
    await under(telemetry, () => work(telemetry));
    await telemetry.shutdown();
    return collector;
  } finally {
    collector.stop();
  }
}

/** Runs `work` with the layer of `telemetry`. */
export async function under<T>(telemetry: Telemetry, work: () => T): Promise<Awaited<T>> {
  return await tracing.withSubscriber(tracing.registry().with(telemetry.tracingLayer()), work);
}
