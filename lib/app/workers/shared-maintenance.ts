/**
 * A maintenance in memory, switched by the code of one worker, holds in all workers, also in those that start later: the parent passes each
 * change on. A maintenance with a store needs none of this.
 *
 * The parent sends a change back to the worker that told it, so that all workers see the changes in one order.
 */
import type { WorkerObserver } from "../../server/workers/supervisor.js";
import type { LinkedWorker } from "../../server/workers/worker-process.js";
import type { WorkerLink } from "../../server/workers/worker-link.js";
import { type Maintenance, MaintenanceLayer } from "../../stages/maintenance/maintenance.js";
import { tracing } from "../../tracing/tracing.js";
import type { ApplicationParts } from "../build.js";

const log = tracing.target("framework::http::maintenance");

/** A switched maintenance: the place of its handle in the application, and its state. */
interface Switched {
  readonly at: number;
  readonly isEngaged: boolean;
  /** Whether the worker that hears this has told it. */
  readonly isEcho?: boolean;
}

export class MaintenanceOfParent implements WorkerObserver {
  /** The last change of each handle. */
  private readonly known = new Map<number, Switched>();
  private readonly workers = new Set<LinkedWorker>();

  constructor(private readonly parts: Pick<ApplicationParts, "log">) {}

  forked(worker: LinkedWorker): void {
    worker.hear("linked", () => {
      this.workers.add(worker);
      for (const change of this.known.values()) worker.tell("maintenance", change);
    });
    worker.hear("maintenance", (body) => {
      if (isSwitched(body)) this.pass(worker, body);
    });
  }

  ended(worker: LinkedWorker): void {
    this.workers.delete(worker);
  }

  private pass(from: LinkedWorker, { at, isEngaged }: Switched): void {
    if (this.known.get(at)?.isEngaged !== isEngaged) {
      const event = isEngaged ? "maintenance has started" : "maintenance has ended";
      this.parts.log.run(() => log.info(event, { worker: from.id, pid: from.pid }));
    }
    this.known.set(at, { at, isEngaged });
    for (const worker of this.workers) worker.tell("maintenance", { at, isEngaged, isEcho: worker === from });
  }
}

/** Called in a worker before it serves. */
export function followMaintenance({ pipeline }: Pick<ApplicationParts, "pipeline">, parent: WorkerLink): void {
  const handles = listHandles(pipeline).map((handle, at) => new FollowingHandle(handle, at, parent));
  parent.hear("maintenance", (body) => {
    if (isSwitched(body)) handles[body.at]?.follow(body);
  });
}

class FollowingHandle {
  /** Changes of this worker that the parent has not sent back. Until then changes of other workers are older. */
  private pending = 0;

  constructor(
    private readonly maintenance: Maintenance,
    at: number,
    parent: WorkerLink,
  ) {
    maintenance.onChange((isEngaged) => {
      this.pending += 1;
      parent.tell("maintenance", { at, isEngaged });
    });
  }

  follow({ isEngaged, isEcho }: Switched): void {
    if (isEcho === true) this.pending -= 1;
    if (this.pending === 0) this.maintenance.follow({ isEngaged });
  }
}

function listHandles(pipeline: ApplicationParts["pipeline"]): readonly Maintenance[] {
  const layers = pipeline.getLayers("maintenance").filter((layer) => layer instanceof MaintenanceLayer);
  return layers.map(({ maintenance }) => maintenance).filter(({ givenStore }) => givenStore === undefined);
}

function isSwitched(body: unknown): body is Switched {
  const { at, isEngaged }: { readonly at?: unknown; readonly isEngaged?: unknown } = Object(body);
  return typeof at === "number" && typeof isEngaged === "boolean";
}
