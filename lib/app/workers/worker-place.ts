/** How the parent tells a worker its place: one environment variable, which the worker removes, so that its own children do not get it. */
import type { AddressInfo } from "node:net";

const VARIABLE = "FRAMEWORK_WORKER";

/** What a worker must know before it serves. */
export interface WorkerPlace {
  /** The address on which the parent listens. */
  readonly address: AddressInfo | string | null;
}

export function toEnvironment(place: WorkerPlace): Readonly<Record<string, string>> {
  return { [VARIABLE]: JSON.stringify(place) };
}

/** Undefined if no parent of `runWorkers()` has forked this process. */
export function takeWorkerPlace(): WorkerPlace | undefined {
  const text = process.env[VARIABLE];
  Reflect.deleteProperty(process.env, VARIABLE);
  // Written by `toEnvironment`.
  return text === undefined ? undefined : (JSON.parse(text) as WorkerPlace);
}
