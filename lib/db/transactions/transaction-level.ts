/**
 * One call of `db.transaction`. The outermost call is the transaction of the engine. Each nested call is a savepoint, which is opened with
 * its first statement. Savepoints are a stack, so a mutex runs the statements and nested calls of one level one after the other, also two
 * nested transactions in a `Promise.all`.
 *
 * A nested function that awaits later work of the outer level waits for itself. A promise does not tell which code awaits it, so this
 * deadlock stays until the end of the request or of the outer function. Then all waiting work fails, which ends the nested function too.
 */
import { FrameworkError } from "../../errors/framework-error.js";
import { type CommitScope, currentCommitScope, inCommitScope } from "../../lifecycle/commit-scope.js";
import type { DriverResult, DriverStatement } from "../driver.js";
import { type RootTransaction, transactionEndedError } from "./root-transaction.js";
import { Mutex } from "../mutex.js";

export interface TransactionRun {
  /** 1 for the first run of the function, 2 for the second, … */
  readonly attempt: number;
}

export class TransactionLevel implements CommitScope {
  /** The scope around this one: the outer level, or a transaction of another database. */
  readonly outer = currentCommitScope();
  private readonly mutex = new Mutex();
  private work: (() => unknown)[] = [];
  private phase: "new" | "open" | "over" = "new";
  /** True from the opening of the savepoint until its release or rollback starts. */
  private hasSavepoint = false;
  /** The last nested level, which may still run. */
  private inner: TransactionLevel | undefined = undefined;

  /** Has the stack of the call that started the outermost transaction. */
  callSite: Error | undefined = undefined;

  /** @param transactions those of the database; @param name of the database */
  constructor(
    readonly transactions: object,
    private readonly name: string,
    private readonly root: RootTransaction,
    readonly run: TransactionRun,
    private readonly parent?: TransactionLevel,
  ) {
    if (parent === undefined) root.whenCancelled = () => this.disableMutex();
  }

  query(statement: Omit<DriverStatement, "signal">): Promise<DriverResult> {
    return this.mutex.run(async () => {
      this.throwIfEnded();
      await this.openSavepoint();
      this.throwIfEnded();
      return this.root.query(statement);
    });
  }

  /** Runs `fn` in a savepoint. */
  runInSavepoint<T>(fn: (run: TransactionRun) => T | Promise<T>): Promise<T> {
    return this.mutex.run(() => {
      this.throwIfEnded();
      this.root.throwIfEnded();
      const level = new TransactionLevel(this.transactions, this.name, this.root, this.run, this);
      level.callSite = this.callSite;
      this.inner = level;
      return level.runNested(fn);
    });
  }

  /** @throws FrameworkError `E_DB_TRANSACTION_OVER` */
  afterCommit(work: () => unknown): void {
    this.throwIfEnded();
    this.work.push(work);
  }

  /**
   * Ends the level, and a nested one that still runs: a later use throws. Returns the work for after the commit, and removes it. Where the
   * level is not rolled back, the caller calls `undoInner` next.
   */
  close(): readonly (() => unknown)[] {
    this.phase = "over";
    this.inner?.close();
    this.mutex.disable();
    const { work } = this;
    this.work = [];
    return work;
  }

  /**
   * Rolls back the nested level if its function still runs, because the outer function has not awaited it: a part of a nested transaction
   * is never committed. Never rejects.
   */
  async undoInner(): Promise<void> {
    const { inner } = this;
    if (inner?.hasSavepoint !== true) return;
    await this.root.waitForStatement();
    await inner.undoSavepoint();
  }

  /** All work that waits for the mutex fails now, because the running work may wait for a part of it. */
  private disableMutex(): void {
    this.mutex.disable();
    this.inner?.disableMutex();
  }

  private async runNested<T>(fn: (run: TransactionRun) => T | Promise<T>): Promise<T> {
    let result: T;
    try {
      result = await inCommitScope(this, async () => fn(this.run));
    } catch (error) {
      await this.undo();
      throw error;
    }
    await this.complete();
    return result;
  }

  /** Opens the savepoint, after those of the outer levels. The outermost level has none. */
  private async openSavepoint(): Promise<void> {
    if (this.phase !== "new") return;
    await this.parent?.openSavepoint();
    this.throwIfEnded();
    this.phase = "open";
    if (this.parent === undefined) return;
    this.hasSavepoint = true;
    await this.root.runSavepointStatement(`savepoint ${this.savepoint}`);
  }

  /**
   * @throws FrameworkError `E_DB_TRANSACTION_OVER` if the outer function has not awaited it, and so has rolled it back; the reason of the
   * signal of a request that has ended
   */
  private async complete(): Promise<void> {
    this.throwIfEnded();
    const isOpen = this.phase === "open";
    if (isOpen && !this.root.isUsable) {
      await this.undo();
      // In a request that has ended no statement failed.
      this.root.throwIfEnded();
      throw createSwallowedError(this.name);
    }
    this.parent?.work.push(...this.close());
    if (!isOpen) return;
    await this.undoInner();
    await this.releaseSavepoint();
  }

  private async releaseSavepoint(): Promise<void> {
    this.hasSavepoint = false;
    try {
      await this.root.runSavepointStatement(`release savepoint ${this.savepoint}`);
    } catch (error) {
      this.root.markBroken(error);
      throw error;
    }
  }

  /** Never rejects, because the first failure must be reported. */
  private async undo(): Promise<void> {
    const isOpen = this.phase === "open";
    this.close();
    if (isOpen) await this.undoSavepoint();
  }

  /** Never rejects. */
  private async undoSavepoint(): Promise<void> {
    this.hasSavepoint = false;
    try {
      await this.root.runSavepointStatement(`rollback to savepoint ${this.savepoint}`);
      await this.root.runSavepointStatement(`release savepoint ${this.savepoint}`);
    } catch (error) {
      this.root.markBroken(error);
    }
  }

  private get depth(): number {
    return this.parent === undefined ? 0 : this.parent.depth + 1;
  }

  private get savepoint(): string {
    return `framework_${this.depth}`;
  }

  private throwIfEnded(): void {
    if (this.phase === "over") throw transactionEndedError(this.name);
  }
}

function createSwallowedError(database: string): FrameworkError {
  const error = new FrameworkError("The transaction failed.", { code: "E_DB_TRANSACTION_FAILED" });
  error.message = `${database}: a statement of the nested transaction failed, and its function returned as if it had not. The nested transaction is rolled back.`;
  return error;
}
