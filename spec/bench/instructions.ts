/**
 * Instructions that a process executes in user mode, counted by Linux's `perf`: unlike processor time, they are the same on a machine
 * that has other work to do, whose caches and cores are shared. Where there is no `perf`, or nothing to count with, they are `NaN`.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { onPath } from "./places.js";

/** Milliseconds until `perf` has attached itself to every thread. */
const ATTACHING = 300;

/** Counts while `work` is done. */
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
