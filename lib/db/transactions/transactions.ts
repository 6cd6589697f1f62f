/**
 * The transactions of one database: it finds the transaction of the running code, retries a transaction after a conflict, and runs the work
 * that waits for the commit. The commit scope of the running code is its innermost transaction.
 */
import { FrameworkError } from "../../errors/framework-error.js";
import { findCaller } from "../../errors/setup-error.js";
import { currentCommitScope, inCommitScope } from "../../lifecycle/commit-scope.js";
import { currentWorkScope } from "../../lifecycle/work-scope.js";
import { tracing } from "../../tracing/tracing.js";
import { runAfterCommit } from "./after-commit.js";
import { RootTransaction } from "./root-transaction.js";
import type { Statements } from "../statements.js";
import { TransactionLevel, type TransactionRun } from "./transaction-level.js";
import {
  checkTransactionOptions,
  isConflict,
  pauseBeforeRetry,
  refuseNestedOptions,
  type TransactionOptions,
} from "./transaction-options.js";

const log = tracing.target("framework::db");

export class Transactions {
  constructor(private readonly statements: () => Statements) {}

  /** `Database.transaction`. */
  async run<T>(fn: (run: TransactionRun) => T | Promise<T>, options?: TransactionOptions): Promise<T> {
    checkTransactionOptions(options);
    const level = this.findLevel();
    if (level === undefined) return this.runOutermost(fn, options ?? {});
    refuseNestedOptions(options);
    return level.runInSavepoint(fn);
  }

  /** `Database.current`. */
  async join<T>(fn: (run: TransactionRun) => T | Promise<T>, options?: TransactionOptions): Promise<T> {
    const level = this.findLevel();
    if (level === undefined) return this.run(fn, options);
    refuseNestedOptions(options);
    return fn(level.run);
  }

  /** `Database.afterCommit`. */
  afterCommit(work: () => unknown): void {
    const level = this.findLevel();
    if (level === undefined) void runAfterCommit([work], this.statements().host.name);
    else level.afterCommit(work);
  }

  /** Work on a second connection inside a transaction may wait for that transaction, and so for itself. */
  refuseSecondConnection(): void {
    const level = this.findLevel();
    if (level !== undefined) throw secondConnectionError(this.statements().host.name, level.callSite);
  }

  /** The innermost transaction of the database that the running code is in. */
  findLevel(): TransactionLevel | undefined {
    for (let scope = currentCommitScope(); scope instanceof TransactionLevel; scope = scope.outer)
      if (scope.transactions === this) return scope;
    return undefined;
  }

  /** True if the innermost transaction of the running code is one of this database. */
  isInnermost(): boolean {
    const scope = currentCommitScope();
    return scope instanceof TransactionLevel && scope.transactions === this;
  }

  private async runOutermost<T>(fn: (run: TransactionRun) => T | Promise<T>, options: TransactionOptions): Promise<T> {
    const { retries = 0 } = options;
    const signal = currentWorkScope()?.signal;
    // Created only for its stack. The stack is formatted only when it is read.
    const callSite = new Error();
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.runAttempt(fn, { attempt }, options, signal, callSite);
      } catch (error) {
        if (attempt > retries || !isConflict(error)) throw error;
        log.info("transaction runs again", { subsystem: this.statements().host.name, attempt: attempt + 1 });
        await pauseBeforeRetry(this.statements().host.clock, attempt, signal);
      }
    }
  }

  private async runAttempt<T>(
    fn: (run: TransactionRun) => T | Promise<T>,
    run: TransactionRun,
    { readOnly = false, isolation }: TransactionOptions,
    signal: AbortSignal | undefined,
    callSite: Error,
  ): Promise<T> {
    const statements = this.statements();
    const root = await RootTransaction.begin(statements, { readOnly, isolation, signal });
    const level = new TransactionLevel(this, statements.host.name, root, run);
    level.callSite = callSite;
    let result: T;
    try {
      result = await inCommitScope(level, async () => fn(run));
    } catch (error) {
      level.close();
      await root.rollback();
      throw error;
    }
    const work = level.close();
    await level.undoInner();
    await root.commit();
    await runAfterCommit(work, statements.host.name);
    return result;
  }
}

function secondConnectionError(database: string, callSite: Error | undefined): FrameworkError {
  const [transactionPlace, callPlace] = [callSite, new Error()]
    .map((site) => site && findCaller(site))
    .map((line) => line && ` (${line})`);
  return new FrameworkError(
    `${database}: this call${callPlace ?? ""} needs a separate connection, and the code runs in a transaction${transactionPlace ?? ""}, which holds ` +
      "one. Call it outside of db.transaction(…), or with db.afterCommit(…).",
    { code: "E_DB_SECOND_CONNECTION" },
  );
}
