/** Where things lie, seen from the compiled benchmark. */

import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository. */
export const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** The peers' own package: their scripts, and their dependencies once installed. */
export const PEERS = join(ROOT, "spec/bench/peers");

/** Our own contenders, compiled with everything else. */
export const OURS = join(ROOT, "dist/spec/bench/stagecraft");

/** Whether a program of that name is on PATH. */
export function onPath(program: string): boolean {
  return (process.env["PATH"] ?? "").split(delimiter).some((folder) => existsSync(join(folder, program)));
}

/** Ties a command to one core where the machine can, so that server and load do not take turns on the same one. */
export function pinned(core: number, command: string, args: readonly string[]): readonly [string, readonly string[]] {
  return onPath("taskset") ? ["taskset", ["-c", String(core), command, ...args]] : [command, args];
}
