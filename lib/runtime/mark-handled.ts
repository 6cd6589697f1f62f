/**
 * Marks a promise that the framework hands out, so that a failure before the caller awaits it is no unhandled rejection, which would
 * end the process. The caller that awaits it still gets the failure.
 *
 * For promises that fail by what a client or a store does. Not for a start-up or a test, whose failures must stay loud.
 *
 * @example
 * return markHandled(this.read(key));
 */
export function markHandled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(ignore);
  return promise;
}

function ignore(): void {}
