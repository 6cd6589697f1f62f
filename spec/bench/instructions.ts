/**
 * Instructions of a process in user mode, counted by Linux's `perf`: unlike processor time, other load on the machine does not change them.
 * They are `NaN` without `perf` or without hardware counters.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { onPath } from "./places.js";

/** Milliseconds until `perf` is attached to every thread. */
const ATTACHING = 300;

/** Counts during `work`. */
export async function instructionsOf(pid: number, work: () => Promise<void>): Promise<number> {
  if (!onPath("perf")) return work().then(() => Number.NaN);
  const options = ["stat", "--field-separator", ",", "--event", "instructions:u", "--pid", String(pid)];
  const perf = spawn("perf", options, { stdio: ["ignore", "ignore", "pipe"] });
  const said = text(perf.stderr);
  const ended = once(perf, "close");
  await sleep(ATTACHING);
  await work();
  perf.kill("SIGINT");
  await ended;
  return Number.parseInt(/^(\d+),,instructions/m.exec(await said)?.[1] ?? "", 10);
}
