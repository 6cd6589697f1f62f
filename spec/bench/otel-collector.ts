/** Run by otel.ts: a collector in a process of its own. Says `ready <port>`, and on every line it reads how many spans came so far. */

import { createInterface } from "node:readline";
import { Collector } from "../otel/collector.js";

const collector = await Collector.start();
let count = 0;
for await (const line of announced()) {
  // What is counted is let go: a benchmark sends millions.
  count += collector.spans.length;
  collector.requests.length = 0;
  console.log(`spans ${count}${line}`);
}

function announced(): AsyncIterable<string> {
  console.log(`ready ${collector.port}`);
  return createInterface({ input: process.stdin });
}
