/**
 * Runs the promises of a contract one after the other, so that one error lists every promise that is broken.
 *
 * Internal: the functions `obeys…` call it.
 */
import { createFailure, describeValue } from "../failure.js";

/** A statement about the subject, and the check whether it is true. */
export type ContractPromise<T> = readonly [promise: string, keeps: (trial: T) => Promise<void>];

/** The means of one promise. */
export interface PromiseRun {
  readonly promise: string;
  /** The place of the promise in its suite, from 0. */
  readonly index: number;
  /** Reports a fault unless both values are the same JSON. */
  readonly equal: (actual: unknown, expected: unknown, what: string) => void;
  readonly report: (fault: string) => void;
}

/**
 * @param verdict the start of the error, for example `MemoryCache does not obey the contract of a cache`
 * @param run makes the trial of a promise, and passes it to `keeps`; an error is a fault
 * @throws AssertionError with all faults
 */
export async function checkPromises<T>(
  verdict: string,
  promises: readonly ContractPromise<T>[],
  run: (keeps: (trial: T) => Promise<void>, means: PromiseRun) => Promise<void>,
): Promise<void> {
  const faults: string[] = [];
  for (const [index, [promise, keeps]] of promises.entries()) {
    const report = (fault: string): void => void faults.push(`${promise}: ${fault}`);
    const equal = (actual: unknown, expected: unknown, what: string): void => {
      if (JSON.stringify(actual) !== JSON.stringify(expected))
        report(`${what} is ${describeValue(actual)}, not ${describeValue(expected)}`);
    };
    try {
      await run(keeps, { promise, index, equal, report });
    } catch (error) {
      report(String(error));
    }
  }
  if (faults.length > 0) throw createContractError(verdict, faults);
}

export function createContractError(verdict: string, faults: readonly string[]): Error {
  const list = faults.map((fault) => `\n  - ${fault}`).join("");
  return createFailure(`${verdict}:${list}`, { expected: [], actual: faults });
}

/** The code of the error with which the work fails, or the error itself if it has none. */
export async function getCode(work: Promise<unknown> | (() => Promise<unknown>)): Promise<unknown> {
  try {
    await (typeof work === "function" ? work() : work);
    return "no error";
  } catch (error) {
    return error instanceof Error && "code" in error ? error.code : error;
  }
}
