/** A contender as a process: started on a free port, then stopped. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Contender } from "./contender.js";
import { filesFolder } from "./files.js";
import { pinned } from "./places.js";

const SERVER_CORE = 0;

export interface BenchServer {
  readonly pid: number;
  readonly port: number;
  /** Processor time so far in seconds, all threads and the processes that it has forked; `NaN` where the system does not report it. */
  cpuSeconds(): number;
  stop(): Promise<void>;
}

/**
 * Starts the contender on the scenario and waits until it prints `ready <port>`. Standard error, with our log lines, goes to a file;
 * peers write theirs to the path in `BENCH_LOG` beside it.
 */
export async function startServer(contender: Contender, scenario: string): Promise<BenchServer> {
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  const errors = join(folder, "stderr");
  const descriptor = openSync(errors, "a");
  const program = [contender.script, contender.variant ?? scenario] as const;
  const [command, args] = contender.everywhere
    ? ([process.execPath, program] as const)
    : pinned(SERVER_CORE, process.execPath, program);
  const child = spawn(command, args, {
    stdio: ["ignore", "pipe", descriptor],
    env: { ...process.env, NODE_ENV: "production", BENCH_LOG: join(folder, "log"), BENCH_FILES: filesFolder() },
  });
  closeSync(descriptor);
  try {
    const port = await announcedPort(child);
    return {
      pid: child.pid ?? Number.NaN,
      port,
      cpuSeconds: () => cpuSeconds(child.pid) + childrenOf(child.pid).reduce((sum, pid) => sum + cpuSeconds(pid), 0),
      stop: () => stop(child, folder),
    };
  } catch (cause) {
    const said = readFileSync(errors, "utf8").slice(-2000);
    rmSync(folder, { recursive: true });
    throw new Error(`${contender.name} does not serve ${scenario}: ${said}`, { cause });
  }
}

async function announcedPort(child: ChildProcess): Promise<number> {
  if (child.stdout === null) throw new Error("no standard output");
  for await (const line of createInterface({ input: child.stdout })) {
    const port = /^ready (\d+)$/.exec(line)?.[1];
    if (port !== undefined) return Number(port);
  }
  throw new Error("it ended before it was ready");
}

/**
 * Processor time of a process so far, all threads; `NaN` where the system does not report it. Fields 14 and 15 of /proc/<pid>/stat, in
 * ticks of 10 ms; the name before them may contain spaces.
 */
export function cpuSeconds(pid: number | undefined): number {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return Number.NaN;
  const fields = readFileSync(file, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** The processes that it has forked and that run; none where the system does not report them. */
function childrenOf(pid: number | undefined): readonly number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  return existsSync(file) ? readFileSync(file, "utf8").trim().split(" ").filter(Boolean).map(Number) : [];
}

async function stop(child: ChildProcess, folder: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const forked = childrenOf(child.pid);
    child.kill("SIGKILL");
    await once(child, "exit");
    for (const pid of forked) kill(pid);
  }
  rmSync(folder, { recursive: true });
}

/** It may have ended with its parent. */
function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
