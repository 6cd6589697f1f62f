/**
 * Work that ends early when its signal aborts. A signal with a listener costs several microseconds, a noticeable part of a query. So a
 * request can also call its listeners without a signal.
 */

/** An object instead of a function: `addEventListener` takes it too, and work that listens needs no closure. */
export interface AbortListener {
  /** Called at most once. */
  handleEvent(): void;
}

export interface Abortable {
  /** May be created at the first read. */
  readonly signal?: AbortSignal | undefined;
  /** Throws the reason if the signal is aborted. Creates no signal. */
  throwIfAborted?(): void;
  /** Calls `listener` when the signal aborts. Creates no signal. Not after the abort: call `throwIfAborted` first. */
  onAbort?(listener: AbortListener): void;
  /** Removes the listener. */
  offAbort?(listener: AbortListener): void;
}

/** @throws the reason of the signal, if it is aborted */
export function throwIfAborted(work: Abortable | undefined): void {
  if (work === undefined) return;
  if (work.throwIfAborted === undefined) work.signal?.throwIfAborted();
  else work.throwIfAborted();
}

export function onAbort(work: Abortable, listener: AbortListener): void {
  if (work.onAbort === undefined) work.signal?.addEventListener("abort", listener, { once: true });
  else work.onAbort(listener);
}

export function offAbort(work: Abortable, listener: AbortListener): void {
  if (work.offAbort === undefined) work.signal?.removeEventListener("abort", listener);
  else work.offAbort(listener);
}

/** Settles as `work` does, or rejects with the reason when the signal aborts. It does not stop the work, and its later result is ignored. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", aborted, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", aborted));
  });
}
