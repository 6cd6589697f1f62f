/**
 * The statements on the table `framework_sessions`, each the same for SQLite, PostgreSQL, MySQL and MariaDB: no upsert, no `returning`, no
 * `for update`. A change names the version that it was computed from, and has no effect if the row has another version. So each statement
 * is short and holds no lock between two round trips.
 */
import type { Kysely } from "kysely";
import { UnavailableError } from "../../../../errors/framework-error.js";
import { DatabaseError, UniqueViolationError } from "../../../../db/database-error.js";
import { MAX_LISTED_SESSIONS } from "../session-store.js";
import {
  createEndedRecord,
  toRecord,
  toRow,
  toRowId,
  toRowOwner,
  type SessionRecord,
  type SessionRow,
} from "./session-record.js";

export interface SessionTables {
  readonly framework_sessions: SessionRow;
}

const TABLE = "framework_sessions";

/** In each round one of the requests succeeds. A browser does not send as many requests at the same time. */
const MAX_ROUNDS = 50;

export class SessionTable {
  constructor(private readonly query: Kysely<SessionTables>) {}

  /** Also finds an expired record, and the record of a session that ended. */
  async find(key: string): Promise<SessionRecord | undefined> {
    const row = await this.query.selectFrom(TABLE).selectAll().where("id", "=", toRowId(key)).executeTakeFirst();
    return row === undefined ? undefined : toRecord(row);
  }

  /** One statement, so that a record that moves is in the list once. */
  async listOfOwner(owner: string, now: number): Promise<readonly SessionRecord[]> {
    const rows = await this.query
      .selectFrom(TABLE)
      .selectAll()
      .where("owner", "=", toRowOwner(owner))
      .where("expires_at", ">", now)
      .where("ended_at", "is", null)
      .orderBy("renewed_at", "desc")
      .limit(MAX_LISTED_SESSIONS)
      .execute();
    return rows.map(toRecord);
  }

  /** @throws UniqueViolationError if there is a row with the key */
  async insert(record: SessionRecord): Promise<void> {
    await this.query.insertInto(TABLE).values(toRow(record)).execute();
  }

  /** False if there is a row with the key; nothing has changed then. */
  async insertNew(record: SessionRecord): Promise<boolean> {
    try {
      await this.insert(record);
      return true;
    } catch (error) {
      if (error instanceof UniqueViolationError) return false;
      throw error;
    }
  }

  /** False if another request has changed the row since `found` was read; nothing has changed then. */
  async replace(found: SessionRecord, next: SessionRecord): Promise<boolean> {
    const { id, ...columns } = toRow({ ...next, version: found.version + 1 });
    const { numUpdatedRows } = await this.query
      .updateTable(TABLE)
      .set(columns)
      .where("id", "=", id)
      .where("version", "=", found.version)
      .executeTakeFirst();
    return numUpdatedRows === 1n;
  }

  /** Ends the session in any version. False if there is no row. */
  async end(key: string, now: number): Promise<boolean> {
    const { id, version: _, ...columns } = toRow(createEndedRecord(key, now));
    const { numUpdatedRows } = await this.query
      .updateTable(TABLE)
      .set(columns)
      .set(({ eb }) => ({ version: eb("version", "+", 1) }))
      .where("id", "=", id)
      .executeTakeFirst();
    return numUpdatedRows === 1n;
  }

  /** Deletes up to `limit` expired rows. Returns how many were found, and how many records of sessions were deleted. */
  async deleteExpired(now: number, limit: number): Promise<{ readonly found: number; readonly sessions: number }> {
    const rows = await this.query
      .selectFrom(TABLE)
      .select(["id", "ended_at"])
      .where("expires_at", "<=", now)
      .orderBy("expires_at")
      .limit(limit)
      .execute();
    const listIds = (hasEnded: boolean) =>
      rows.flatMap((row) => ((row.ended_at !== null) === hasEnded ? [row.id] : []));
    await this.delete(listIds(true), now);
    return { found: rows.length, sessions: await this.delete(listIds(false), now) };
  }

  /** Does not delete a row that was renewed in the meantime. */
  private async delete(ids: readonly string[], now: number): Promise<number> {
    if (ids.length === 0) return 0;
    const statement = this.query.deleteFrom(TABLE).where("id", "in", ids).where("expires_at", "<=", now);
    return Number((await statement.executeTakeFirst()).numDeletedRows);
  }
}

/**
 * Repeats `attempt` while it returns `undefined`, and after a conflict that the engine reports.
 *
 * @throws UnavailableError `E_SESSION_CONFLICT` when other requests were faster too often
 */
export async function retryUntilDecided<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    try {
      const result = await attempt();
      if (result !== undefined) return result;
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
  }
  throw new UnavailableError("Too many requests change this session at the same time.", { code: "E_SESSION_CONFLICT" });
}

/** A lock that was not free in time does not count, because the engine has waited long enough. */
function isConflict(error: unknown): boolean {
  return error instanceof DatabaseError && (error.kind === "serialization" || error.kind === "deadlock");
}
