/** The small comparisons, each set in a process of its own that nothing else has warmed up. */

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { BenchOptions } from "./options.js";
import { pinned, ROOT } from "./places.js";

const run = promisify(execFile);

export const MICRO = [
  { name: "metrics", what: "counting, observing and rendering, in nanoseconds of processor time" },
  { name: "flow", what: "carrying a request along, and events nobody reads, in nanoseconds of processor time" },
] as const;

export async function runMicro(name: string, options: BenchOptions): Promise<string> {
  const program = join(ROOT, "dist/spec/bench/micro/run.js");
  const [command, args] = pinned(0, process.execPath, [program, name, String(options.rounds * 3)]);
  const { stdout } = await run(command, args, { env: { ...process.env, NODE_ENV: "production" } });
  return stdout.trimEnd();
}
