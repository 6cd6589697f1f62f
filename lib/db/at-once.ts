/**
 * The result of work that may end at once. A driver that answers in the same call, such as SQLite's, returns the value. Any other driver
 * returns a promise. A query of SQLite makes no promise, because each promise would cost a noticeable part of the query.
 */
export type AtOnce<T> = T | Promise<T>;

/** The promise of `read(value)`, with one promise more than `work` makes. */
export function promised<T, U>(work: () => AtOnce<T>, read: (value: T) => U): Promise<U> {
  try {
    const result = work();
    return result instanceof Promise ? result.then(read) : Promise.resolve(read(result));
  } catch (error) {
    return Promise.reject(error);
  }
}

/** Runs `work`, then `ended` when the value is there. If `work` fails, throws the error that `failed` returns. */
export function followed<T>(work: () => AtOnce<T>, ended: () => void, failed: (error: unknown) => unknown): AtOnce<T> {
  let result: AtOnce<T>;
  try {
    result = work();
  } catch (error) {
    throw failed(error);
  }
  if (result instanceof Promise) return settled(result, ended, failed);
  ended();
  return result;
}

function settled<T>(result: Promise<T>, ended: () => void, failed: (error: unknown) => unknown): Promise<T> {
  return result.then(
    (value) => {
      ended();
      return value;
    },
    (error: unknown) => {
      throw failed(error);
    },
  );
}
