/**
 * Marks the last attempts of jobs before their handlers start, with one statement for all that start in one iteration of the event loop.
 * When a worker dies, a last attempt without a mark never ran, and its job is retried. Jobs with attempts left need no mark.
 */
import type { Clock } from "../../runtime/clock.js";
import { type WorkerClaim, repeatStep } from "./worker-claims.js";
import type { JobClaim, JobStore } from "../job-store.js";
import { runQuietly } from "./quiet.js";

export interface MarkTools {
  readonly store: Pick<JobStore, "markStarted">;
  readonly clock: Clock;
  readonly failed: (error: unknown) => void;
}

export class StartMarks {
  private waiting: JobClaim[] = [];
  private sending: Promise<ReadonlySet<string>> | undefined;

  constructor(private readonly tools: MarkTools) {}

  /**
   * Returns false if the claim has ended, so that the handler must not start. The statement is repeated while the store fails and the claim
   * is valid.
   */
  async mark(claim: WorkerClaim): Promise<boolean> {
    const { clock, failed } = this.tools;
    const step = { clock, failed, isActive: () => !claim.control.signal.aborted };
    const refused = await repeatStep(claim, step, () => this.sendTogether(claim.job));
    return refused !== undefined && !refused.has(claim.job.id);
  }

  /** Returns the ids of the refused claims of the statement. */
  private sendTogether(claim: JobClaim): Promise<ReadonlySet<string>> {
    this.waiting.push(claim);
    this.sending ??= this.send();
    return this.sending;
  }

  private async send(): Promise<ReadonlySet<string>> {
    await new Promise<void>((resolve) => process.nextTick(resolve));
    const claims = this.waiting;
    this.waiting = [];
    this.sending = undefined;
    const refused = await runQuietly(() => this.tools.store.markStarted(claims));
    return new Set(refused.map(({ id }) => id));
  }
}
