/** Statements that several stores of this folder run: outside of the open transaction, or where a unique value may exist already. */
import type { Database } from "../../db/database.js";
import { UniqueViolationError } from "../../db/database-error.js";
import { inCommitScope } from "../../lifecycle/commit-scope.js";
import { inWorkScope } from "../../lifecycle/work-scope.js";

/** Runs one statement that no open transaction rolls back. @throws FrameworkError `E_DB_SECOND_CONNECTION` */
export function runOutside<Tables, T>(db: Database<Tables>, run: () => Promise<T>): Promise<T> {
  db.refuseSecondWrite();
  return inCommitScope(undefined, () => inWorkScope(undefined, run, undefined));
}

/**
 * False if a unique value exists already. In a transaction: inside of another one it is a savepoint, without which PostgreSQL would refuse
 * the statements that follow.
 */
export async function writeUnique<Tables>(db: Database<Tables>, write: () => Promise<unknown>): Promise<boolean> {
  try {
    return (await db.transaction(write)) !== false;
  } catch (error) {
    if (error instanceof UniqueViolationError) return false;
    throw error;
  }
}
