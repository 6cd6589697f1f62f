/**
 * The features that work across the processes of `runWorkers()`, on both ends: in the parent for each worker, and in each worker. Each
 * feature has one file in this folder, and one line in each of the two functions.
 *
 * @example
 * // in the parent: const part: ParentPart = { forked: (worker) => worker.hear("metrics.delta", (body) => totals.add(worker.id, body)) };
 * // in a worker:   parent.tell("metrics.delta", readDelta());
 */
import type { WorkerObserver } from "../../server/workers/supervisor.js";
import type { WorkerLink } from "../../server/workers/worker-link.js";
import { currentLog } from "../../observe/logging/install.js";
import { Metrics } from "../../observe/metrics/metrics.js";
import type { ApplicationParts } from "../build.js";
import { ParentMetrics } from "./parent-metrics.js";
import { ParentReadiness } from "./parent-readiness.js";
import { refuseProcessStates } from "./process-states.js";
import { MaintenanceOfParent, followMaintenance } from "./shared-maintenance.js";
import { WorkOfParent, followWork } from "./shared-work.js";
import { WorkerMetrics } from "./worker-metrics.js";
import { WorkerOutput } from "./worker-output.js";
import { WorkerReadiness } from "./worker-readiness.js";
import type { CheckedWorkersOptions } from "./workers-options.js";

/** The part of a feature in the parent. */
export interface ParentPart extends WorkerObserver {
  /** All workers have ended. */
  close?(): void | Promise<void>;
}

/** The part of a feature in a worker. */
export interface WorkerPart {
  /** The subsystems have started, and the worker serves. The parent learns it after this call. */
  ready?(): void;
  /** The worker has drained, and its subsystems have stopped. What this tells still arrives: it is the last moment. */
  stopped?(): void | Promise<void>;
}

/** Called in the parent before it listens and forks. An error that this throws refuses the start. */
export function createParentParts(parts: ApplicationParts, options: CheckedWorkersOptions): readonly ParentPart[] {
  refuseProcessStates(parts, options.count);
  const { clock, container, readiness } = parts;
  return [
    new ParentMetrics(container.get(Metrics)),
    new ParentReadiness(clock, readiness.probeTimeoutMs),
    new WorkOfParent(parts, options.work),
    new MaintenanceOfParent(parts),
    new WorkerOutput(clock, currentLog()?.sink),
  ];
}

/** Called in a worker after `build()`, before its subsystems start. */
export function createWorkerParts(parts: ApplicationParts, parent: WorkerLink): readonly WorkerPart[] {
  followWork(parts, parent);
  followMaintenance(parts, parent);
  const { clock, container, readiness } = parts;
  readiness.share(new WorkerReadiness(readiness, parent, clock));
  return [new WorkerMetrics(container.get(Metrics), parent, clock)];
}
