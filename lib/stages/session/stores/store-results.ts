/**
 * Checks of the values that a session store returns. A store of an application may return any value. A request must never use the record of
 * another visitor, and a browser must not get a cookie for a record that may not exist.
 */
import type { SessionUpdate, StoredSession, UpdatedSession } from "./session-store.js";

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
