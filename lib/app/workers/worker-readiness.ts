/**
 * The readiness of the service in a worker: the parent reports the states of all workers after each change, and asks the workers that serve
 * for their checks when one of them is asked. Without a parent the worker reports its readiness alone.
 */
import type { Checks, Readiness, SharedReadiness, WorkerCounts } from "../../lifecycle/readiness.js";
import type { LifecycleState } from "../../lifecycle/state.js";
import { type Clock, OVERDUE } from "../../runtime/clock.js";
import type { WorkerLink } from "../../server/workers/worker-link.js";
import { ParentRequests } from "./parent-requests.js";

/** From the parent: the state of the service. */
export const STATE_TOPIC = "readiness.state";
/** A request to the parent for the checks of all workers. */
export const CHECKS_TOPIC = "readiness.checks";
/** A request of the parent for the checks of one worker, and the response. */
export const PROBE_TOPIC = "readiness.probe";

export interface ServiceState {
  readonly state: LifecycleState;
  readonly workers: WorkerCounts;
}

/** The time of messages, beside that of the probes. */
export const MESSAGES_MS = 250;

export class WorkerReadiness implements SharedReadiness {
  private service: ServiceState | undefined;
  private readonly requests: ParentRequests;
  private running: Promise<Checks> | undefined;

  constructor(
    private readonly readiness: Readiness,
    parent: WorkerLink,
    clock: Clock,
    /** False once the parent has ended. */
    private readonly hasParent: () => boolean = () => process.connected,
  ) {
    this.requests = new ParentRequests(parent, CHECKS_TOPIC, clock);
    // The parent is of the same program, or of the release before it.
    parent.hear(STATE_TOPIC, (service) => (this.service = service as ServiceState));
    parent.hear(PROBE_TOPIC, (round) => {
      void readiness.checkAlone().then((checks) => parent.tell(PROBE_TOPIC, { round, checks }));
    });
  }

  find(): ServiceState | undefined {
    return this.hasParent() ? this.service : undefined;
  }

  /** Calls during a run share that run. */
  check(): Promise<Checks> {
    return (this.running ??= this.checkAll().finally(() => (this.running = undefined)));
  }

  private async checkAll(): Promise<Checks> {
    const response = await this.requests.send(undefined, this.readiness.probeTimeoutMs + 2 * MESSAGES_MS);
    // Written by `ParentReadiness`.
    return response === OVERDUE ? this.readiness.checkAlone() : (response as Checks);
  }
}
