/**
 * The queue of callers that wait for a connection. Each waits for a bounded time, and leaves when its signal aborts. All have the same time
 * limit, so one timer for the first caller is enough. Most callers are served before it fires, and a timer for each of them would cost
 * time.
 */
import { type Abortable, type AbortListener, offAbort, onAbort } from "../../runtime/abortable.js";
import type { Clock, Timer } from "../../runtime/clock.js";
import { currentFlow, type Flow } from "../../tracing/flow.js";

/** A caller. A busy pool has thousands of them, so each is a single object. */
class Waiter<M> implements AbortListener {
  /** The flow of the caller. */
  readonly flow = currentFlow();
  previous: Waiter<M> | undefined = undefined;
  next: Waiter<M> | undefined = undefined;

  constructor(
    private readonly waiters: PoolWaiters<M>,
    readonly work: Abortable,
    readonly batch: object | undefined,
    readonly dueAt: number,
    readonly resolve: (member: M) => void,
    readonly reject: (error: unknown) => void,
  ) {}

  handleEvent(): void {
    this.waiters.leave(this, this.work.signal?.reason);
  }
}

export class PoolWaiters<M> {
  // A linked list, because removing a caller from its middle is fast. A `Set` that has grown references its old table, and with it whole
  // requests, until the next full garbage collection.
  private first: Waiter<M> | undefined = undefined;
  private last: Waiter<M> | undefined = undefined;
  private count = 0;
  private timer: Timer | undefined = undefined;

  /** @param overdue returns the error of a caller that waited too long */
  constructor(
    private readonly clock: Clock,
    private readonly waitMs: number,
    private readonly overdue: () => unknown,
    private readonly changed: () => void,
  ) {}

  get size(): number {
    return this.count;
  }

  /**
   * Rejects with the reason of the work's signal, with that of `overdue`, or with that of `rejectFirst`.
   *
   * @param batch the callers with the same value can share a connection
   */
  wait(work: Abortable, batch?: object): Promise<M> {
    return new Promise((resolve, reject) => {
      const dueAt = this.clock.monotonic() + this.waitMs;
      const waiter = new Waiter(this, work, batch, dueAt, resolve, reject);
      onAbort(work, waiter);
      this.add(waiter);
      this.arm(this.waitMs);
      this.changed();
    });
  }

  /** The flow of the caller that waits longest. */
  get firstFlow(): Flow | undefined {
    return this.first?.flow;
  }

  /** Gives the connection to the first caller and to the next ones of its batch, up to `max` callers. Returns their number. */
  resolveFirst(member: M, max: number): number {
    const batch = this.first?.batch;
    let served = 0;
    for (let waiter = this.first; waiter !== undefined; waiter = this.first) {
      if (served > 0 && (served >= max || batch === undefined || waiter.batch !== batch)) break;
      this.remove(waiter);
      waiter.resolve(member);
      served++;
    }
    return served;
  }

  rejectFirst(error: unknown): void {
    if (this.first !== undefined) this.leave(this.first, error);
  }

  rejectAll(error: unknown): void {
    while (this.first !== undefined) this.leave(this.first, error);
  }

  /** The timer stays when its waiter has left. The users of the connections keep the process alive. */
  private arm(delayMs: number): void {
    this.timer ??= this.clock.setTimeout(() => this.expire(), delayMs, { background: true });
  }

  private expire(): void {
    this.timer = undefined;
    const now = this.clock.monotonic();
    while (this.first !== undefined) {
      if (this.first.dueAt > now) return this.arm(this.first.dueAt - now);
      this.leave(this.first, this.overdue());
    }
  }

  private add(waiter: Waiter<M>): void {
    waiter.previous = this.last;
    if (this.last === undefined) this.first = waiter;
    else this.last.next = waiter;
    this.last = waiter;
    this.count++;
  }

  /** The caller gets the error. @internal */
  leave(waiter: Waiter<M>, error: unknown): void {
    this.remove(waiter);
    waiter.reject(error);
  }

  private remove(waiter: Waiter<M>): void {
    const { previous, next } = waiter;
    if (previous === undefined) this.first = next;
    else previous.next = next;
    if (next === undefined) this.last = previous;
    else next.previous = previous;
    waiter.previous = undefined;
    waiter.next = undefined;
    this.count--;
    offAbort(waiter.work, waiter);
    this.changed();
  }
}
