/** The options of `db.transaction`, and the pause before a transaction runs again. */
import { FrameworkError } from "../../errors/framework-error.js";
import { checkOptionNames, type OptionNames } from "../../errors/option-names.js";
import { valueText } from "../../errors/value-text.js";
import { type Clock, sleep } from "../../runtime/clock.js";
import { isRetryable } from "../database-error.js";
import type { IsolationLevel } from "../driver.js";

export interface TransactionOptions {
  /** The transaction only reads; the engine refuses a write. False unless set. */
  readonly readOnly?: boolean;
  /** Absent: the default of the engine. SQLite always has `serializable`. */
  readonly isolation?: IsolationLevel;
  /**
   * The maximum number of retries after a conflict with another transaction: a serialization failure, a deadlock, a lock that was not
   * released in time. 0 unless set, because the function may have effects outside of the database.
   */
  readonly retries?: number;
}

const NAMES: OptionNames<TransactionOptions> = { readOnly: true, isolation: true, retries: true };
const LEVELS: ReadonlySet<unknown> = new Set<IsolationLevel>(["read committed", "repeatable read", "serializable"]);

const MAX_RETRIES = 100;
const FIRST_PAUSE_MS = 10;
const MAX_PAUSE_MS = 500;

/** @throws FrameworkError `E_OPTION`, `E_DB_TRANSACTION_OPTION` */
export function checkTransactionOptions(options: TransactionOptions | undefined): void {
  if (options === undefined) return;
  checkOptionNames(options, NAMES, "db.transaction");
  const { isolation, retries = 0 } = options;
  if (isolation !== undefined && !LEVELS.has(isolation))
    throw optionError("isolation", isolation, [...LEVELS].join(", "));
  if (!Number.isInteger(retries) || retries < 0 || retries > MAX_RETRIES)
    throw optionError("retries", retries, `a whole number from 0 to ${MAX_RETRIES}`);
}

/** A nested transaction runs with the options of the outermost one. @throws FrameworkError `E_DB_TRANSACTION_OPTION` */
export function refuseNestedOptions(options: TransactionOptions | undefined): void {
  const given = Object.entries(options ?? {}).find(([, value]) => value !== undefined && value !== false);
  if (given === undefined) return;
  throw new FrameworkError(`${given[0]} of a nested transaction has no effect: set it for the outermost one`, {
    code: "E_DB_TRANSACTION_OPTION",
  });
}

/** True if the failure, or its cause, is a conflict with another transaction. */
export function isConflict(error: unknown): boolean {
  return isRetryable(error) || (error instanceof Error && isRetryable(error.cause));
}

/** Longer after each attempt, and random, so that two transactions do not collide again. Rejects with the reason of the signal. */
export function pauseBeforeRetry(clock: Clock, attempt: number, signal: AbortSignal | undefined): Promise<void> {
  const maxPauseMs = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(attempt, 10), MAX_PAUSE_MS);
  return sleep(clock, maxPauseMs * (0.5 + Math.random() / 2), signal);
}

function optionError(name: string, value: unknown, known: string): FrameworkError {
  return new FrameworkError(`${name} of a transaction cannot be ${valueText(value)}: use ${known}`, {
    code: "E_DB_TRANSACTION_OPTION",
  });
}
