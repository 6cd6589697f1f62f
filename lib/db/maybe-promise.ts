/**
 * The result of work that may be synchronous. A driver that has the result in the same call, such as SQLite's, returns the value. Any other
 * driver returns a promise. A query of SQLite creates no promise, because each promise would cost a noticeable part of the query.
 */
export type MaybePromise<T> = T | Promise<T>;

/** The promise of the result of `work`. */
export function toPromise<T>(work: () => MaybePromise<T>): Promise<T> {
  try {
    const result = work();
    return result instanceof Promise ? result : Promise.resolve(result);
  } catch (error) {
    return Promise.reject(error);
  }
}
