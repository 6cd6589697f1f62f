/**
 * A program that collects traces and draws them. It listens on the default port of collectors, or on the port in its argument.
 *
 * @example
 * node dist/spec/observe/otel/show-traces.js
 */
import { Collector } from "./collector.js";
import { drawTraces } from "./drawn-trace.js";

const DEFAULT_PORT = 4317;

const collector = await Collector.start(Number(process.argv[2] ?? DEFAULT_PORT));
console.log(`collecting on ${collector.endpoint}`);
for (;;) {
  await collector.nextRequest();
  for (const drawn of drawTraces(collector.spans)) console.log(`\n${drawn}`);
  collector.requests.length = 0;
}
