/**
 * The transaction that the running code works in, for parts that must wait for its commit: an event, a job that goes to another store.
 * A database enters a scope for each transaction. Outside a transaction, work runs at once.
 *
 * Internal: applications use `db.transaction` and `db.afterCommit`.
 */
import { AsyncLocalStorage } from "node:async_hooks";

export interface CommitScope {
  /**
   * Runs `work` once after the outermost transaction has committed, in the order of the calls. A rolled-back transaction or savepoint drops
   * the work that was added in it. A failure of `work` is logged and has no other effect.
   */
  afterCommit(work: () => unknown): void;
}

const scopes = new AsyncLocalStorage<CommitScope | undefined>();

/** The innermost open transaction; `undefined` outside of one. */
export function currentCommitScope(): CommitScope | undefined {
  return scopes.getStore();
}

/** Runs `run()` in the scope, with all asynchronous work that it starts. */
export function inCommitScope<T>(scope: CommitScope | undefined, run: () => T): T {
  return scopes.run(scope, run);
}
