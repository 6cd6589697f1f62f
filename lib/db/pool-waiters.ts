/**
 * The callers that wait for a connection, first come, first served. Each waits for a bounded time, and leaves when its signal aborts. All
 * wait equally long, so one timer for the first of them is enough: most are served before it, and would pay for one of their own.
 */
import type { Clock, Timer } from "../runtime/clock.js";

interface Waiter<M> {
  readonly resolve: (member: M) => void;
  readonly reject: (error: unknown) => void;
  readonly dueAt: number;
  readonly signal: AbortSignal | undefined;
  readonly aborted: () => void;
}

export class PoolWaiters<M> {
  /** A set keeps the order of arrival, and a caller in the middle leaves at once. */
  private readonly waiters = new Set<Waiter<M>>();
  private timer: Timer | undefined = undefined;

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
      const dueAt = this.clock.monotonic() + this.waitMs;
      const waiter: Waiter<M> = { resolve, reject, dueAt, signal, aborted };
      signal?.addEventListener("abort", aborted, { once: true });
      this.waiters.add(waiter);
      this.arm(this.waitMs);
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

  /** The timer stays when the waiter that it was set for has left. The sockets of the pool keep the process alive. */
  private arm(delayMs: number): void {
    this.timer ??= this.clock.setTimeout(() => this.expire(), delayMs, { background: true });
  }

  private expire(): void {
    this.timer = undefined;
    const now = this.clock.monotonic();
    for (const waiter of this.waiters) {
      if (waiter.dueAt > now) return this.arm(waiter.dueAt - now);
      this.leave(waiter, this.overdue());
    }
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
    waiter.signal?.removeEventListener("abort", waiter.aborted);
    this.changed();
  }
}
