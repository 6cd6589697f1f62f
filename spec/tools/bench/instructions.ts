/**
 * Instructions of a process in user mode, counted by Linux's `perf`: unlike processor time, other load on the machine does not change them.
 * They are `NaN` without `perf` or without hardware counters.
 */

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { onPath } from "./places.js";

/** Without a counter, the number is `<not supported>` or `<not counted>`. */
const COUNT = /^(\d+),,instructions/m;

/** Milliseconds until `perf` is attached to every thread. */
const ATTACHING = 300;

/** Whether this machine counts them: virtual machines often do not, and containers may not ask. */
export function canCountInstructions(): boolean {
  const options = ["stat", "--field-separator", ",", "--event", "instructions:u", process.execPath, "--version"];
  return COUNT.test(spawnSync("perf", options, { encoding: "utf8" }).stderr ?? "");
}

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
  return Number.parseInt(COUNT.exec(await said)?.[1] ?? "", 10);
}
