/**
 * Work that may end at once: a driver that answers in the same call, as SQLite does, returns the value, and any other one a promise. A query
 * of such a driver makes no promise on its way, for each would cost as much as a part of the query.
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

/** Runs `work`, and `ended` once it has its value. Where it fails, the error is what `failed` makes of it. */
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
