/**
 * `npm run soak`: the sample under load for minutes, with every stage on and its log in a file. Ends with code 1 where memory grows, where a
 * line of the log is torn, or where the numbers of access lines, responses and counts of `/metrics` differ. Not part of the test run.
 *
 * @example
 * npm run soak -- --seconds 300 --connections 64
 */
import { parseArgs } from "node:util";
import { onPath } from "../bench/places.js";
import { findingsOf, shown, storyOf } from "./memory.js";
import { soak, type Soaked } from "./soak.js";
import { disagreements } from "./verdict.js";

/** The share of the time in which memory may grow: code is compiled, tables and the store fill up. */
const WARM_UP = 0.2;
/** A shorter run has no warm-up, so it does not check memory. */
const SHORTEST_SECONDS = 60;

function optionsOf(argv: readonly string[]): { readonly seconds: number; readonly connections: number } {
  const options = {
    seconds: { type: "string", default: "300" },
    connections: { type: "string", default: "64" },
  } as const;
  const { values } = parseArgs({ args: [...argv], options });
  const [seconds, connections] = [Number(values.seconds), Number(values.connections)];
  if (!(seconds >= SHORTEST_SECONDS))
    throw new Error(`--seconds takes ${SHORTEST_SECONDS} or more, not "${values.seconds}"`);
  if (!(connections >= 1)) throw new Error(`--connections takes 1 or more, not "${values.connections}"`);
  return { seconds, connections };
}

function report({ responses, reading, memory }: Soaked, seconds: number): readonly string[] {
  const story = storyOf(memory.slice(Math.ceil(memory.length * WARM_UP)));
  console.log(`responses      ${responses}, ${Math.round(responses / seconds)} a second
access lines   ${reading.requests}, each of the format, none torn
other lines    ${reading.lines - reading.requests}
heap           ${shown(story.heap)} after the warm-up and at the end, garbage collected
resident set   ${shown(story.resident)}`);
  return findingsOf(story);
}

const { seconds, connections } = optionsOf(process.argv.slice(2));
const wrk = onPath("wrk");
if (!wrk)
  console.log("wrk is not installed: clients in this process make the load, which is less (apt-get install wrk)");
const soaked = await soak(
  wrk ? { seconds, connections, clients: 2 } : { seconds, connections: 0, clients: connections },
);
const findings = [...report(soaked, seconds), ...disagreements(soaked)];
for (const finding of findings) console.error(finding);
console.log(findings.length === 0 ? "responses, access lines and counters agree; memory is flat" : "not as promised");
process.exitCode = findings.length === 0 ? 0 : 1;
