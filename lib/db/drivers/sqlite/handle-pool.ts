/**
 * A pool of handles of one file: one writer, or several readers. One caller uses a handle at a time. The wait for a free handle and the
 * number of waiting callers are bounded.
 */
import type { MaybePromise } from "../../maybe-promise.js";
import type { PoolFigures } from "../../pool/pool-report.js";
import { type Clock, type Timer } from "../../../runtime/clock.js";

/** The error of a wait that ended without a handle. */
export class NoHandle extends Error {
  constructor(readonly text: string) {
    super(text);
    this.name = "NoHandle";
  }
}

export interface HandlePoolLimits {
  readonly size: number;
  readonly maxWaiting: number;
  readonly waitMs: number;
}

interface FileWaiter<T> {
  resolve(handle: T): void;
  readonly signal: AbortSignal | undefined;
}

export class HandlePool<T extends { close(): void }> {
  private readonly free: T[] = [];
  private readonly waiting = new Set<FileWaiter<T>>();
  private open = 0;
  private isClosed = false;

  constructor(
    private readonly limits: HandlePoolLimits,
    private readonly clock: Clock,
    private readonly make: () => T,
    /** Called when a figure may have changed. */
    private readonly changed: () => void,
  ) {}

  /** A free handle, or a promise of the next one. Fails with `NoHandle`, the reason of the signal, or the failure of `make`. */
  take(options: { readonly signal?: AbortSignal | undefined }): MaybePromise<T> {
    if (this.isClosed) throw new NoHandle("the database is stopped");
    return this.takeNow() ?? this.wait(options.signal);
  }

  /** A free handle, or a new one; `undefined` if all are in use. @throws the error of `make` */
  takeNow(): T | undefined {
    this.changed();
    return this.free.pop() ?? this.openAnother();
  }

  release(handle: T): void {
    this.changed();
    const next = this.nextCaller;
    if (next !== undefined) next.resolve(handle);
    else if (this.isClosed) this.drop(handle);
    else this.free.push(handle);
  }

  /** Closes a handle that was taken. The next caller gets a new one. */
  drop(handle: T): void {
    this.changed();
    this.open--;
    handle.close();
    const next = this.nextCaller;
    if (next === undefined || this.isClosed) return;
    try {
      const replacement = this.openAnother();
      if (replacement !== undefined) next.resolve(replacement);
    } catch {
      // The waiting callers fail at their time limit.
    }
  }

  get taken(): number {
    return this.open - this.free.length;
  }

  get figures(): PoolFigures {
    return { inUse: this.taken, idle: this.free.length, waiting: this.waiting.size };
  }

  /** Closes the free handles now, and each taken one at its release. */
  close(): void {
    this.isClosed = true;
    for (let handle = this.free.pop(); handle !== undefined; handle = this.free.pop()) this.drop(handle);
  }

  private get nextCaller(): FileWaiter<T> | undefined {
    // Nearly always no caller waits, and then an iterator would be a waste.
    return this.waiting.size === 0 ? undefined : this.waiting.values().next().value;
  }

  private openAnother(): T | undefined {
    if (this.open >= this.limits.size) return undefined;
    const handle = this.make();
    this.open++;
    return handle;
  }

  private wait(signal: AbortSignal | undefined): Promise<T> {
    const { maxWaiting, waitMs } = this.limits;
    signal?.throwIfAborted();
    if (this.waiting.size >= maxWaiting) throw new NoHandle(`${maxWaiting} callers wait already`);
    return new Promise((resolve, reject) => {
      let timer: Timer | undefined = undefined;
      const stopWaiting = (): void => {
        timer?.cancel();
        this.waiting.delete(entry);
        signal?.removeEventListener("abort", aborted);
      };
      const aborted = (): void => {
        stopWaiting();
        reject(signal?.reason as Error);
      };
      const entry: FileWaiter<T> = {
        signal,
        resolve: (handle) => {
          stopWaiting();
          resolve(handle);
        },
      };
      this.waiting.add(entry);
      signal?.addEventListener("abort", aborted, { once: true });
      timer = this.clock.setTimeout(() => {
        stopWaiting();
        reject(new NoHandle(`another transaction of this process has used the database for ${waitMs} ms`));
      }, waitMs);
    });
  }
}
