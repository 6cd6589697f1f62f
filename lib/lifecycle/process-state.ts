/**
 * State in the memory of one process, which the other processes of an application do not see. `runWorkers` with more than one worker
 * refuses it at the start, or warns of it.
 *
 * Any provider, store or layer may say so. Not for a cache: a process that computes a value again breaks no promise.
 *
 * @example
 * class MemoryNotes implements PerProcess {
 *   readonly perProcess = { what: "notes are in memory", fix: "provide SqlNotes" };
 * }
 */

export interface ProcessState {
  /** A clause that names the state: `sessions are in memory`. */
  readonly what: string;
  /** What to use instead. */
  readonly fix: string;
  /** True if several processes weaken a limit and break no promise: this is a warning. */
  readonly isTolerable?: boolean;
}

export interface PerProcess {
  /** `undefined` if other processes see the state. */
  readonly perProcess?: ProcessState | undefined;
}

/** The state that a value says it has. A member of that name may also be something else of the application. */
export function findProcessState(value: unknown): ProcessState | undefined {
  const { perProcess }: { readonly perProcess?: unknown } = Object(value);
  return isProcessState(perProcess) ? perProcess : undefined;
}

function isProcessState(value: unknown): value is ProcessState {
  const { what, fix }: { readonly what?: unknown; readonly fix?: unknown } = Object(value);
  return typeof what === "string" && typeof fix === "string";
}
