/**
 * A transaction of the engine on its connection, from the SQL `begin` to the release of the connection. When the signal of the request
 * aborts, it rolls back at once, even while the code inside waits for other work.
 *
 * The caller gets the first failure. If the rollback fails too, the connection is destroyed, and the second failure is only logged.
 */
import { FrameworkError } from "../../errors/framework-error.js";
import type { Timer } from "../../runtime/clock.js";
import { tracing } from "../../tracing/tracing.js";
import { UnknownOutcomeError } from "../database-error.js";
import type { BeginOptions, DriverConnection, DriverResult, DriverStatement } from "../driver.js";
import type { Statements } from "../statements.js";

const log = tracing.target("framework::db");

/** The time limit for the server's response to a commit, after the end of its request. */
const COMMIT_GRACE_MS = 5000;

export class RootTransaction {
  /** The error of the last failed statement: the reason if the engine has ended the transaction, or accepts no further statement. */
  private lastFailure: unknown = undefined;
  private running: Promise<unknown> | undefined = undefined;
  /** Set when the signal aborted; resolves when the connection is released. */
  private cancelled: Promise<void> | undefined = undefined;
  private isEnded = false;
  /** Called when the signal has aborted. */
  whenCancelled: (() => void) | undefined = undefined;
  private isBroken = false;

  private constructor(
    private readonly statements: Statements,
    private readonly connection: DriverConnection,
    readonly signal: AbortSignal | undefined,
  ) {}

  static begin(statements: Statements, options: BeginOptions): Promise<RootTransaction> {
    return statements.report("begin", undefined, async () => {
      const { signal, readOnly } = options;
      const connection = await open(statements, { readOnly, signal });
      try {
        await connection.begin(options);
      } catch (error) {
        releaseOrDestroy(connection, statements.driver.failure(error).kind === "connection" ? error : undefined);
        throw statements.translateError(error, signal);
      }
      const transaction = new RootTransaction(statements, connection, signal);
      signal?.addEventListener("abort", transaction.cancel, { once: true });
      if (signal?.aborted === true) transaction.cancel();
      return transaction;
    });
  }

  /** @throws FrameworkError `E_DB_TRANSACTION_OVER`, `E_DB_TRANSACTION_FAILED`; DatabaseError; the reason of the signal */
  query(statement: Omit<DriverStatement, "signal">): Promise<DriverResult> {
    this.throwIfUnusable();
    return this.send(statement);
  }

  /** A statement about savepoints, which a failed transaction accepts too. */
  async runSavepointStatement(sql: string): Promise<void> {
    this.throwIfEnded();
    const statement = { sql, parameters: [], isRead: false };
    await this.statements.report("savepoint", sql, () => this.send(statement));
  }

  /** True if the engine accepts statements. */
  get isUsable(): boolean {
    return !this.isEnded && !this.isBroken && this.connection.transactionStatus === "open";
  }

  /** A savepoint could not be rolled back, so the whole transaction is rolled back at its end. */
  markBroken(reason: unknown): void {
    this.isBroken = true;
    this.lastFailure ??= reason;
  }

  /** @throws the reason that prevents the commit; UnknownOutcomeError if the connection was lost during the commit */
  async commit(): Promise<void> {
    await this.waitForStatement();
    if (this.cancelled !== undefined) return this.throwCancelled(this.cancelled);
    if (!this.isUsable) {
      const failure = this.failedError();
      await this.rollback();
      throw failure;
    }
    this.markEnded();
    await this.statements.report("commit", undefined, () => this.sendCommit());
    this.connection.release();
  }

  /** Never rejects. */
  async rollback(): Promise<void> {
    await this.waitForStatement();
    if (this.cancelled !== undefined) return this.cancelled;
    this.markEnded();
    await this.sendRollback();
  }

  private async sendCommit(): Promise<void> {
    try {
      await this.commitInTime();
    } catch (error) {
      if (this.statements.driver.failure(error).kind === "connection") {
        this.connection.destroy(error);
        throw new UnknownOutcomeError(`the commit of ${this.statements.host.name}`);
      }
      await this.sendRollback();
      throw this.statements.translateError(error);
    }
  }

  /**
   * A server that hangs must not occupy the connection of each request: after the time limit the connection is destroyed, and the commit
   * rejects.
   */
  private async commitInTime(): Promise<void> {
    const { connection, signal } = this;
    const { clock } = this.statements.host;
    let timer: Timer | undefined;
    const limit = (): void => {
      timer = clock.setTimeout(() => connection.destroy(signal?.reason), COMMIT_GRACE_MS, { background: true });
    };
    signal?.addEventListener("abort", limit, { once: true });
    try {
      await connection.commit();
    } finally {
      signal?.removeEventListener("abort", limit);
      timer?.cancel();
    }
  }

  private async sendRollback(): Promise<void> {
    const { connection, statements } = this;
    if (connection.transactionStatus === "none" && !this.isBroken) return connection.release();
    try {
      await statements.report("rollback", undefined, () => connection.rollback());
    } catch (error) {
      // Only the kind: the message of the driver may quote values.
      log.warn("rollback failed", { subsystem: statements.host.name, kind: statements.driver.failure(error).kind });
      return connection.destroy(error);
    }
    connection.release();
  }

  private async send(statement: Omit<DriverStatement, "signal">): Promise<DriverResult> {
    const running = this.start(statement);
    this.running = running;
    try {
      return await running;
    } catch (error) {
      this.lastFailure = error;
      throw error;
    } finally {
      if (this.running === running) this.running = undefined;
    }
  }

  private start(statement: Omit<DriverStatement, "signal">): Promise<DriverResult> {
    const { signal } = this;
    return this.statements.query(this.connection, signal === undefined ? statement : { ...statement, signal });
  }

  /** Resolves at the end of a statement that the function did not await. */
  async waitForStatement(): Promise<void> {
    await this.running?.catch(() => {});
  }

  private readonly cancel = (): void => {
    if (this.isEnded) return;
    this.markEnded();
    this.cancelled = this.waitForStatement().then(() => this.sendRollback());
    this.whenCancelled?.();
  };

  private markEnded(): void {
    this.isEnded = true;
    this.signal?.removeEventListener("abort", this.cancel);
  }

  private async throwCancelled(cancelled: Promise<void>): Promise<never> {
    await cancelled;
    throw this.signal?.reason;
  }

  /** @throws FrameworkError `E_DB_TRANSACTION_OVER`; the reason of the signal */
  throwIfEnded(): void {
    if (this.cancelled !== undefined) throw this.signal?.reason;
    if (this.isEnded) throw transactionEndedError(this.statements.host.name);
  }

  private throwIfUnusable(): void {
    this.throwIfEnded();
    if (!this.isUsable) throw this.failedError();
  }

  private failedError(): FrameworkError {
    const error = new FrameworkError("The transaction failed.", {
      code: "E_DB_TRANSACTION_FAILED",
      cause: this.lastFailure,
      ...(this.lastFailure instanceof FrameworkError && { status: this.lastFailure.status }),
    });
    error.message =
      `${this.statements.host.name}: a statement of the transaction failed, and the function continued. ` +
      "To continue after a failure, put the statement into a nested db.transaction(…).";
    return error;
  }
}

/** The error of work that continues after the end of its transaction. */
export function transactionEndedError(database: string): FrameworkError {
  return new FrameworkError(
    `${database}: the transaction of this code has ended. Await all work inside of db.transaction(…), or start it with db.afterCommit(…).`,
    { code: "E_DB_TRANSACTION_OVER" },
  );
}

async function open(
  statements: Statements,
  options: { readonly readOnly: boolean; readonly signal: AbortSignal | undefined },
): Promise<DriverConnection> {
  try {
    return await statements.driver.connect(options);
  } catch (error) {
    throw statements.translateError(error, options.signal);
  }
}

/** @param reason the failure of a connection that cannot be used again; `undefined` for a usable one */
export function releaseOrDestroy(connection: DriverConnection, reason: unknown): void {
  if (reason === undefined) connection.release();
  else connection.destroy(reason);
}
