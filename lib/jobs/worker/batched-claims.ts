/**
 * Sends claims of completed jobs, and of jobs without a handler, to the store: at once if no call is under way, otherwise together with all
 * claims that arrive until then. A call that fails is repeated until the worker stops.
 */
import { type Clock, sleep, within } from "../../runtime/clock.js";
import type { JobClaim } from "../job-store.js";
import { runQuietly } from "./quiet.js";

const MAX_AT_ONCE = 500;
const PAUSE_MS = 1000;

export interface BatchSteps {
  /** Returns the refused claims, if the store reports them. */
  readonly send: (claims: readonly JobClaim[]) => Promise<readonly JobClaim[] | void>;
  /** Called when the store refused the claims, because another process has them. */
  readonly lost: (claims: readonly JobClaim[]) => void;
  readonly failed: (error: unknown) => void;
  /** Called when some claims were sent, or could not be. */
  readonly sent: () => void;
}

export class BatchedClaims {
  private waiting: JobClaim[] = [];
  private sending: Promise<void> | undefined;
  private inFlight: readonly JobClaim[] = [];
  private hasEnded = false;

  constructor(
    private readonly clock: Clock,
    private readonly steps: BatchSteps,
  ) {}

  /** The number of claims that the store does not know of yet. */
  get pending(): number {
    return this.waiting.length + this.inFlight.length;
  }

  get claims(): readonly JobClaim[] {
    return [...this.waiting, ...this.inFlight];
  }

  add(claim: JobClaim): void {
    this.waiting.push(claim);
    this.sending ??= this.sendAll();
  }

  /** Resolves when all are sent, or after `limitMs`. */
  async flush(limitMs: number): Promise<void> {
    if (this.sending !== undefined) await within(this.clock, limitMs, this.sending);
    // A store that still fails then gets no further call; the jobs run again elsewhere.
    this.hasEnded = true;
  }

  private async sendAll(): Promise<void> {
    // Jobs that end in the same iteration of the event loop are sent together. They are sent after the next claim, because free capacity
    // waits for that claim.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    while (this.waiting.length > 0 && !this.hasEnded) await this.sendSome(this.waiting.splice(0, MAX_AT_ONCE));
    this.sending = undefined;
  }

  private async sendSome(claims: readonly JobClaim[]): Promise<void> {
    this.inFlight = claims;
    try {
      const lost = await runQuietly(() => this.steps.send(claims));
      this.inFlight = [];
      if (lost !== undefined && lost.length > 0) this.steps.lost(lost);
    } catch (error) {
      this.steps.failed(error);
      await sleep(this.clock, PAUSE_MS);
      this.waiting.unshift(...claims);
    } finally {
      this.inFlight = [];
    }
    this.steps.sent();
  }
}
