/** The callers that wait for a connection, first come, first served. Each waits for a bounded time, and leaves when its signal aborts. */
import type { Clock, Timer } from "../runtime/clock.js";

interface Waiter<M> {
  readonly resolve: (member: M) => void;
  readonly reject: (error: unknown) => void;
  readonly timer: Timer;
  readonly signal: AbortSignal | undefined;
  readonly aborted: () => void;
}

export class PoolWaiters<M> {
  /** A set keeps the order of arrival, and a caller in the middle leaves at once. */
  private readonly waiters = new Set<Waiter<M>>();

  /** @param overdue makes the error of a caller that waited too long */
  constructor(
    private readonly clock: Clock,
    private readonly waitMs: number,
    private readonly overdue: () => unknown,
    private readonly changed: () => void,
  ) {}

  get size(): number {
    return this.waiters.size;
  }

  /** Rejects with the reason of the signal, with that of `overdue`, or with that of `rejectFirst`. */
  wait(signal: AbortSignal | undefined): Promise<M> {
    return new Promise((resolve, reject) => {
      const aborted = (): void => this.leave(waiter, signal?.reason);
      const timer = this.clock.setTimeout(() => this.leave(waiter, this.overdue()), this.waitMs);
      const waiter: Waiter<M> = { resolve, reject, timer, signal, aborted };
      signal?.addEventListener("abort", aborted, { once: true });
      this.waiters.add(waiter);
      this.changed();
    });
  }

  /** False if no caller waits. */
  resolveFirst(member: M): boolean {
    const waiter = this.first();
    if (waiter === undefined) return false;
    this.remove(waiter);
    waiter.resolve(member);
    return true;
  }

  rejectFirst(error: unknown): void {
    const waiter = this.first();
    if (waiter !== undefined) this.leave(waiter, error);
  }

  rejectAll(error: unknown): void {
    for (const waiter of this.waiters) this.leave(waiter, error);
  }

  private first(): Waiter<M> | undefined {
    for (const waiter of this.waiters) return waiter;
    return undefined;
  }

  private leave(waiter: Waiter<M>, error: unknown): void {
    this.remove(waiter);
    waiter.reject(error);
  }

  private remove(waiter: Waiter<M>): void {
    this.waiters.delete(waiter);
    waiter.timer.cancel();
    waiter.signal?.removeEventListener("abort", waiter.aborted);
    this.changed();
  }
}
