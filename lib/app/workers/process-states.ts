/**
 * The state of an application that each worker would have for itself. `refuseProcessStates` refuses what breaks a promise, such as sessions,
 * before the first worker exists, and `listProcessStateWarnings` has what only weakens a limit.
 *
 * Not for one worker: nothing is refused there.
 */
import { StartupError, type Warning } from "../../errors/diagnostic.js";
import { findProcessState, type ProcessState } from "../../lifecycle/process-state.js";
import type { ApplicationParts } from "../build.js";

/** The parts whose values may have state. */
export type StateHolders = Pick<ApplicationParts, "container" | "subsystems" | "pipeline" | "routes">;

/** @throws StartupError `E_WORKERS_MEMORY` for each state that workers cannot share */
export function refuseProcessStates(holders: StateHolders, workers: number): void {
  if (workers < 2) return;
  const diagnostics = listProcessStates(holders)
    .filter(({ isTolerable }) => isTolerable !== true)
    .map(({ what, fix }) => ({
      code: "E_WORKERS_MEMORY",
      what: `${what}, which ${workers} workers do not share`,
      where: `runWorkers({ workers: ${workers} })`,
      fix: `${fix}; or run() in one process`,
    }));
  if (diagnostics.length > 0) throw new StartupError(diagnostics);
}

/** At most one warning. The parent logs it. */
export function listProcessStateWarnings(holders: StateHolders, workers: number): readonly Warning[] {
  const states = listProcessStates(holders).filter(({ isTolerable }) => isTolerable === true);
  if (workers < 2 || states.length === 0) return [];
  const fields = { workers, state: states.map(({ what }) => what), fix: [...new Set(states.map(({ fix }) => fix))] };
  const message = `each worker has separate state in memory: ${workers} workers let up to ${workers} times a quota through`;
  return [{ message, fields }];
}

function listProcessStates({ container, subsystems, pipeline, routes }: StateHolders): readonly ProcessState[] {
  const layers = pipeline.describe().flatMap(({ slot }) => pipeline.getLayers(slot));
  const members = subsystems.members.map(({ subsystem }) => subsystem);
  const middleware = routes.flatten().flatMap(({ around }) => around);
  const holders = new Set<unknown>([...container.instances(), ...members, ...layers, ...middleware]);
  const states = [...holders].map(findProcessState).filter((state) => state !== undefined);
  // A store may be a provider and a part of a layer.
  return [...new Map(states.map((state) => [state.what, state])).values()];
}
