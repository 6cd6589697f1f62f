/**
 * The number of processors that this process may use: those of the machine, or fewer under a limit of its control group, as in a container.
 * Not every version of Node knows that limit.
 *
 * @example
 * const { count, source } = findProcessors(); // { count: 2, source: "limit of /sys/fs/cgroup/cpu.max" }
 */
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path/posix";

/** The number of workers, and where it comes from. */
export interface WorkerCount {
  readonly count: number;
  readonly source: string;
}

/** What the machine says. A test passes a double. */
export interface Machine {
  /** By Node. */
  readonly available: number;
  /** The text of a file; `undefined` if it cannot be read. */
  readonly read: (path: string) => string | undefined;
}

const ROOT = "/sys/fs/cgroup";

export function findProcessors(machine: Machine = readMachine()): WorkerCount {
  const limits = [...listLimits(machine)].filter(({ count }) => count < machine.available);
  const [first] = limits.toSorted((a, b) => a.count - b.count);
  return first ?? { count: machine.available, source: "processors that Node may use" };
}

function readMachine(): Machine {
  return {
    available: availableParallelism(),
    read: (path) => {
      try {
        return readFileSync(path, "utf8");
      } catch {
        return undefined;
      }
    },
  };
}

/** Of the group of this process and of the groups above it. In a container the group is the root. */
function* listLimits({ read }: Machine): Generator<WorkerCount> {
  for (const line of (read("/proc/self/cgroup") ?? "").split("\n")) {
    // `0::/path` in version 2, `4:cpu,cpuacct:/path` in version 1.
    const [, controllers = "", group = "/"] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    const isSecond = line.startsWith("0::");
    if (!isSecond && !controllers.split(",").includes("cpu")) continue;
    for (const folder of listAncestors(join(ROOT, controllers), group)) {
      const file = join(folder, isSecond ? "cpu.max" : "cpu.cfs_quota_us");
      const quota = read(file)?.trim().split(" ");
      const period = isSecond ? quota?.[1] : read(join(folder, "cpu.cfs_period_us"));
      const count = Math.max(1, Math.floor(Number(quota?.[0]) / Number(period)));
      // Without a limit the quota is `max` or -1.
      if (Number(quota?.[0]) > 0 && Number.isSafeInteger(count)) yield { count, source: `limit of ${file}` };
    }
  }
}

function* listAncestors(root: string, group: string): Generator<string> {
  for (let path = group; path !== "/"; path = dirname(path)) yield join(root, path);
  yield root;
}
