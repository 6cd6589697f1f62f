/** The comparisons of single operations, each set in a new process. */

import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { BenchOptions } from "./options.js";
import { pinned, ROOT } from "./places.js";

export const MICRO = [
  {
    name: "metrics",
    what: "counting, observing and rendering, in nanoseconds of processor time; of a scrape, the longest pause",
  },
  { name: "log", what: "a log line, written at once to /dev/null, in nanoseconds of processor time" },
  { name: "admission", what: "a rate limit by the keys that come, and a timeout, in nanoseconds of processor time" },
  { name: "contract", what: "a body through the contract of an endpoint, in nanoseconds of processor time" },
  {
    name: "client",
    what: "a call of the typed client on a fetch that responds at once, in nanoseconds of processor time",
  },
  { name: "jwt", what: "an access token, verified, in nanoseconds of processor time" },
  { name: "flow", what: "carrying a request along, and events without a reader, in nanoseconds of processor time" },
] as const;

/** Standard error is a sink here: the writes are measured and not shown. */
export async function runMicro(name: string, options: BenchOptions): Promise<string> {
  const program = join(ROOT, "dist/spec/tools/bench/micro/run.js");
  const [command, args] = pinned(0, process.execPath, [program, name, String(options.rounds * 3)]);
  const nowhere = openSync(devNull, "w");
  const stdio = ["ignore", "pipe", nowhere] as const;
  const child = spawn(command, args, { stdio: [...stdio], env: { ...process.env, NODE_ENV: "production" } });
  closeSync(nowhere);
  if (child.stdout === null) throw new Error("no standard output");
  const table = await text(child.stdout);
  if (table === "") throw new Error(`the set fails; see node ${program} ${name}`);
  return table.trimEnd();
}
