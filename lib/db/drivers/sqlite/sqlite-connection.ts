/**
 * A connection of SQLite, which one caller uses. Statements are synchronous and cannot be cancelled: the signal aborts the wait for a lock,
 * and is checked before each statement of a transaction.
 */
import type { MaybePromise } from "../../maybe-promise.js";
import type { BeginOptions, DriverConnection, DriverResult, DriverStatement, TransactionStatus } from "../../driver.js";
import type { Clock } from "../../../runtime/clock.js";
import { retryWhileLocked } from "./lock-wait.js";
import { isBusy } from "./sqlite-failure.js";
import type { SqliteFile } from "./sqlite-file.js";

/** Returns a connection to the pool after its use, or closes it. */
export interface ConnectionReleaser {
  release(connection: SqliteConnection): void;
  drop(connection: SqliteConnection): void;
}

export class SqliteConnection implements DriverConnection {
  private isReadOnly = false;

  constructor(
    private readonly file: SqliteFile,
    private readonly releaser: ConnectionReleaser,
    private readonly clock: Clock,
    private readonly waitMs: number,
  ) {}

  get transactionStatus(): TransactionStatus {
    return this.file.isInTransaction ? "open" : "none";
  }

  /** Returns the result at once, unless another process holds a lock. */
  query(statement: DriverStatement): MaybePromise<DriverResult> {
    const { file } = this;
    if (file.isInTransaction) {
      statement.signal?.throwIfAborted();
      return file.run(statement);
    }
    try {
      return file.run(statement);
    } catch (error) {
      if (!isBusy(error)) throw error;
      return this.retryWhileLocked(() => file.run(statement), statement.signal);
    }
  }

  /**
   * A transaction that may write takes the write lock at its start: a later attempt would fail at once if another transaction has written
   * meanwhile.
   */
  async begin({ readOnly, signal }: BeginOptions): Promise<void> {
    await this.retryWhileLocked(() => this.file.exec(readOnly ? "begin" : "begin immediate"), signal);
    if (!readOnly || this.file.readOnly) return;
    // A database in memory has one handle, which can write.
    this.isReadOnly = true;
    this.file.exec("pragma query_only = 1");
  }

  async commit(): Promise<void> {
    this.allowWrites();
    await this.retryWhileLocked(() => this.file.exec("commit"));
  }

  async rollback(): Promise<void> {
    this.allowWrites();
    if (this.file.isInTransaction) this.file.exec("rollback");
  }

  /**
   * Rolls back a transaction that the application opened by a statement. The connection is not closed, because in memory it is the
   * database.
   */
  release(): void {
    try {
      this.allowWrites();
      if (this.file.isInTransaction) this.file.exec("rollback");
    } catch {
      return this.releaser.drop(this);
    }
    this.releaser.release(this);
  }

  destroy(): void {
    this.releaser.drop(this);
  }

  /** Closes the file. */
  close(): void {
    this.file.close();
  }

  private retryWhileLocked<T>(work: () => T, signal?: AbortSignal): Promise<T> {
    return retryWhileLocked(this.clock, this.waitMs, work, signal);
  }

  private allowWrites(): void {
    if (!this.isReadOnly) return;
    this.isReadOnly = false;
    this.file.exec("pragma query_only = 0");
  }
}
