/** The paths of the benchmark's parts, from the compiled benchmark. */

import { existsSync } from "node:fs";
import { cpus } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository. */
export const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

/** The package of the peers: their scripts, and their dependencies after installation. */
export const PEERS = join(ROOT, "spec/tools/bench/peers");

/** Our own contenders, compiled. */
export const OURS = join(ROOT, "dist/spec/tools/bench/stagecraft");

/** Whether a program of that name is on PATH. */
export function onPath(program: string): boolean {
  return (process.env["PATH"] ?? "").split(delimiter).some((folder) => existsSync(join(folder, program)));
}

/** Binds a command to one core where the machine can, so that server and load do not share a core. */
export function pinned(core: number, command: string, args: readonly string[]): readonly [string, readonly string[]] {
  return onPath("taskset") ? ["taskset", ["-c", String(core), command, ...args]] : [command, args];
}

/** The processors of this machine. */
export const MACHINE = `${cpus().length} × ${cpus()[0]?.model ?? "unknown"}`;
