/**
 * A pool of handles of one file: one writer, or several readers. One caller uses a handle at a time. The wait for a free handle and the
 * number of waiting callers are bounded.
 */
import { type Abortable, throwIfAborted } from "../../../runtime/abortable.js";
import type { Clock } from "../../../runtime/clock.js";
import { DriverError } from "../../driver-error.js";
import type { MaybePromise } from "../../maybe-promise.js";
import type { PoolFigures } from "../../pool/pool-report.js";
import { PoolWaiters } from "../../pool/pool-waiters.js";

export interface HandlePoolLimits {
  readonly size: number;
  readonly maxWaiting: number;
  readonly waitMs: number;
}

export class HandlePool<T extends { close(): void }> {
  private readonly free: T[] = [];
  private readonly waiters: PoolWaiters<T>;
  private open = 0;
  private isClosed = false;

  constructor(
    private readonly limits: HandlePoolLimits,
    clock: Clock,
    private readonly make: () => T,
    /** Called when a figure may have changed. */
    private readonly changed: () => void,
  ) {
    const { waitMs } = limits;
    const overdue = (): DriverError =>
      noHandleError(`another transaction of this process has used the database for ${waitMs} ms`);
    this.waiters = new PoolWaiters(clock, waitMs, overdue, changed);
  }

  /** A free handle, or a promise of the next one. Fails with a `DriverError`, the reason of the signal, or the failure of `make`. */
  take(work: Abortable): MaybePromise<T> {
    if (this.isClosed) throw noHandleError("the database is stopped");
    return this.takeNow() ?? this.wait(work);
  }

  /** A free handle, or a new one; `undefined` if all are in use. @throws the error of `make` */
  takeNow(): T | undefined {
    this.changed();
    return this.free.pop() ?? this.openAnother();
  }

  release(handle: T): void {
    this.changed();
    if (this.waiters.resolveFirst(handle, 1) > 0) return;
    if (this.isClosed) this.drop(handle);
    else this.free.push(handle);
  }

  /** Closes a handle that was taken. The next caller gets a new one. */
  drop(handle: T): void {
    this.changed();
    this.open--;
    handle.close();
    if (this.waiters.size === 0 || this.isClosed) return;
    try {
      const replacement = this.openAnother();
      if (replacement !== undefined) this.waiters.resolveFirst(replacement, 1);
    } catch {
      // The waiting callers fail at their time limit.
    }
  }

  get taken(): number {
    return this.open - this.free.length;
  }

  get figures(): PoolFigures {
    return { inUse: this.taken, idle: this.free.length, waiting: this.waiters.size };
  }

  /** Closes the free handles now, and each taken one at its release. */
  close(): void {
    this.isClosed = true;
    for (let handle = this.free.pop(); handle !== undefined; handle = this.free.pop()) this.drop(handle);
  }

  private openAnother(): T | undefined {
    if (this.open >= this.limits.size) return undefined;
    const handle = this.make();
    this.open++;
    return handle;
  }

  private wait(work: Abortable): Promise<T> {
    const { maxWaiting } = this.limits;
    throwIfAborted(work);
    if (this.waiters.size >= maxWaiting) throw noHandleError(`${maxWaiting} callers wait already`);
    return this.waiters.wait(work);
  }
}

export function noHandleError(text: string): DriverError {
  return new DriverError({ kind: "overloaded", text });
}
