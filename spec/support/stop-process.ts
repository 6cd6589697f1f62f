/** Stops a process as a test needs it: it does no more work from the moment that the call returns. */
import { existsSync, readFileSync, readdirSync } from "node:fs";

const LIMIT_MS = 10_000;

/** SIGSTOP reaches each thread when it next runs, which is later on a busy machine. `/proc` tells it on Linux. */
export function stopProcesses(pids: readonly number[]): void {
  for (const pid of pids) signalProcess(pid, "SIGSTOP");
  const deadline = performance.now() + LIMIT_MS;
  while (pids.some(runs) && performance.now() < deadline) wait();
}

export function signalProcess(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended meanwhile.
  }
}

function runs(pid: number): boolean {
  const threads = `/proc/${pid}/task`;
  if (!existsSync(threads)) return false;
  try {
    return readdirSync(threads).some((id) => !isStopped(readFileSync(`${threads}/${id}/stat`, "utf8")));
  } catch {
    // A thread has ended meanwhile.
    return true;
  }
}

/** The state follows the name, which stands in parentheses: T stopped, Z ended, X exited. */
function isStopped(stat: string): boolean {
  return /[TtZX]/u.test(stat.charAt(stat.lastIndexOf(")") + 2));
}

/** Without the event loop: a caller sees no response between the signal and the stop. */
function wait(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
}
