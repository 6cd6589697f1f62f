/**
 * Which worker does the work that no request asks for: jobs, schedules, and what else begins in `beginWork` of a subsystem. The parent gives
 * it to one worker that is ready, and to the next one when that worker drains or ends.
 *
 * Work that processes share by a store may overlap for a moment, so it has no pause. Other work begins in a worker after it has ended in the
 * one before.
 */
import type { Subsystem } from "../../lifecycle/subsystem.js";
import type { WorkerObserver } from "../../server/workers/supervisor.js";
import type { LinkedWorker } from "../../server/workers/worker-process.js";
import type { WorkerLink } from "../../server/workers/worker-link.js";
import { tracing } from "../../tracing/tracing.js";
import type { ApplicationParts } from "../build.js";
import type { WorkChoice } from "./workers-options.js";

const log = tracing.target("framework::workers");

const KINDS = ["shared", "alone"] as const;
type WorkKind = (typeof KINDS)[number];

function getKind({ sharesWork }: Subsystem): WorkKind {
  return sharesWork === true ? "shared" : "alone";
}

/** Work of one kind, and the worker that has it. */
class GivenWork {
  private worker: LinkedWorker | undefined;

  constructor(readonly kind: WorkKind) {}

  /** Gives the work to the worker that became ready last: a roll replaces it last. */
  give(ready: ReadonlySet<LinkedWorker>): void {
    const next = [...ready].at(-1);
    if (this.worker !== undefined || next === undefined) return;
    this.worker = next;
    next.tell("work", this.kind);
    log.info("work given to a worker", { worker: next.id, pid: next.pid, work: this.kind });
  }

  takeFrom(worker: LinkedWorker): void {
    if (this.worker === worker) this.worker = undefined;
  }
}

export class WorkOfParent implements WorkerObserver {
  private readonly readyWorkers = new Set<LinkedWorker>();
  private readonly works: readonly GivenWork[];
  private isGiving = false;

  constructor(
    { subsystems }: Pick<ApplicationParts, "subsystems">,
    private readonly choice: WorkChoice,
  ) {
    const working = subsystems.members.filter(({ subsystem }) => subsystem.beginWork !== undefined);
    const kinds = new Set(working.map(({ subsystem }) => getKind(subsystem)));
    this.works = [...kinds].map((kind) => new GivenWork(kind));
  }

  forked(worker: LinkedWorker): void {
    worker.hear("work.ended", () => this.lose(worker, this.works));
  }

  ready(worker: LinkedWorker): void {
    if (this.choice === "each") for (const { kind } of this.works) worker.tell("work", kind);
    this.readyWorkers.add(worker);
    this.giveSoon();
  }

  ending(worker: LinkedWorker): void {
    this.readyWorkers.delete(worker);
    this.lose(
      worker,
      this.works.filter(({ kind }) => kind === "shared"),
    );
  }

  ended(worker: LinkedWorker): void {
    this.readyWorkers.delete(worker);
    this.lose(worker, this.works);
  }

  private lose(worker: LinkedWorker, works: readonly GivenWork[]): void {
    for (const work of works) work.takeFrom(worker);
    this.giveSoon();
  }

  /** At the end of the service all workers leave in one step: none of them gets the work of another one. */
  private giveSoon(): void {
    if (this.choice !== "one" || this.isGiving) return;
    this.isGiving = true;
    setImmediate(() => {
      this.isGiving = false;
      for (const work of this.works) work.give(this.readyWorkers);
    });
  }
}

/** Called in a worker before its subsystems start. Its work begins when the parent says so. */
export function followWork(
  { startup, log: logs }: Pick<ApplicationParts, "startup" | "log">,
  parent: WorkerLink,
): void {
  startup.deferWork();
  // A rejection is an uncaught error, which ends the worker, as it would end the start of `run()`.
  const begin = async (given: unknown): Promise<void> => {
    const isStarted = await startup.startDeferred((subsystem) => getKind(subsystem) === given);
    // The worker drains already, and the parent has learned that before it gave the work.
    if (!isStarted) parent.tell("work.ended");
  };
  parent.hear("work", (kind) => void logs.run(() => begin(kind)));
  void startup.workEnded.then(() => parent.tell("work.ended"));
}
