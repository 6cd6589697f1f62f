/**
 * Marks a promise as handled. If it rejects before the caller awaits it, Node does not see an unhandled rejection, which would end the
 * process. A caller that awaits it still gets the rejection.
 *
 * For promises that fail because of a client or a store. Not for a start-up or a test, where an unhandled failure must show.
 *
 * @example
 * return markHandled(this.read(key));
 */
export function markHandled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(ignore);
  return promise;
}

function ignore(): void {}
