/**
 * Checks of the values that a session store returns, and its failures. A store of an application may return any value. A request must never
 * use the record of another visitor, and a browser must not get a cookie for a record that may not exist.
 */
import { UnavailableError } from "../../../errors/framework-error.js";
import { OWNER_NAME, type SessionUpdate, type StoredSession, type UpdatedSession } from "./session-store.js";

/** The time limit of an operation of the store: five seconds. */
export const STORE_LIMIT_MS = 5_000;

export function createOverdueError(): Error {
  return new Error(`no reply within ${STORE_LIMIT_MS} ms`);
}

/** The 503 of a failure. */
export function createStoreFailure(cause: unknown): UnavailableError {
  return new UnavailableError("The session store is unavailable. Please try again shortly.", { cause });
}

/** The record, or `null` for none. @throws TypeError for a record of another key, and for a broken one */
export function checkRecord(record: StoredSession | undefined, key: string): StoredSession | null {
  if (record === undefined) return null;
  if (typeof record !== "object" || record === null || record.key !== key || !(record.values instanceof Map)) {
    throw new TypeError("the session store returned a record that does not belong to the session");
  }
  if (!Number.isFinite(record.renewedAt)) throw brokenRecord();
  for (const [name, text] of record.values)
    if (typeof name !== "string" || typeof text !== "string") throw brokenRecord();
  return record;
}

/** @throws TypeError for a list with a record of another owner, or with a broken one */
export function checkOwned(records: readonly StoredSession[], owner: string): readonly StoredSession[] {
  if (!Array.isArray(records)) throw wrongResult();
  for (const record of records as readonly StoredSession[]) {
    if (checkRecord(record, record.key)?.values.get(OWNER_NAME) === owner) continue;
    throw new TypeError("the session store returned a record that does not belong to the owner");
  }
  return records;
}

/** @throws TypeError for a value that is no result of `update` or `move` */
export function checkUpdate(result: SessionUpdate): SessionUpdate {
  if (result === "ended" || result === "unknown") return result;
  const { expiresAt, size } = (result ?? {}) as Partial<UpdatedSession>;
  if (Number.isFinite(expiresAt) && Number.isFinite(size)) return result;
  throw wrongResult();
}

/** @throws TypeError for a value that is no result of `create` */
export function checkCreation(result: boolean): boolean {
  if (typeof result === "boolean") return result;
  throw wrongResult();
}

function brokenRecord(): TypeError {
  return new TypeError("the session store returned a broken record");
}

function wrongResult(): TypeError {
  return new TypeError("the session store returned a result that it cannot return");
}
