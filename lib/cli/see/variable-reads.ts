/**
 * Records the environment variables that a program reads: by `environment()` of the framework, and by `process.env.NAME` in the files of the
 * program. A copy of all variables, such as `{ ...process.env }`, reads none of them; those that `environment()` reads from the copy count.
 *
 * Not for a running application: each read formats a stack.
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { VARIABLE_CHANNEL, type ReadVariable } from "../../app/variable-reads.js";
import { findPlace, isLibraryFrame, listFrames } from "../../errors/setup-error.js";

export interface RecordedVariable {
  readonly name: string;
  readonly isSecret: boolean;
  /** `framework`, for `environment()` too, or the place in the program. */
  readonly by: string;
  readonly hasDefault: boolean;
}

/** Runs `work`, and returns the variables that it read, sorted by name. */
export async function recordReads(work: () => Promise<void>): Promise<readonly RecordedVariable[]> {
  const found = new Map<string, RecordedVariable>();
  const onRead = (message: unknown): void => {
    // Only the framework publishes on the channel.
    const read = message as ReadVariable;
    found.set(read.name, { ...read, by: "framework" });
  };
  const { env } = process;
  subscribe(VARIABLE_CHANNEL, onRead);
  process.env = watchReads(env, (name, by) => {
    if (!found.has(name)) found.set(name, { name, by, isSecret: false, hasDefault: false });
  });
  try {
    await work();
  } finally {
    process.env = env;
    unsubscribe(VARIABLE_CHANNEL, onRead);
  }
  return [...found.values()].toSorted((left, right) => (left.name < right.name ? -1 : 1));
}

function watchReads(env: NodeJS.ProcessEnv, record: (name: string, by: string) => void): NodeJS.ProcessEnv {
  let copied = new Set<string | symbol>();
  return new Proxy(env, {
    ownKeys: (target) => {
      const keys = Reflect.ownKeys(target);
      copied = new Set(keys);
      return keys;
    },
    get: (target, name) => {
      const isCopied = copied.delete(name);
      const by = typeof name === "symbol" || isCopied ? undefined : findReader();
      if (by !== undefined) record(String(name), by);
      return Reflect.get(target, name) as unknown;
    },
  });
}

/** The reader, unless it is a package or Node itself. */
function findReader(): string | undefined {
  // The first two are this function and the trap that calls it.
  const frames = listFrames(new Error("read").stack).slice(2);
  const frame = frames.find((each) => !/\(?node:|Reflect\.get|Proxy/.test(each));
  if (frame === undefined || /[\\/]node_modules[\\/]/.test(frame)) return undefined;
  return isLibraryFrame(frame) === true ? "framework" : findPlace([frame]);
}
