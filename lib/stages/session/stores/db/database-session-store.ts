/**
 * Sessions in a database of the application; the entry point `@stagecraft/framework/session/db`. The table comes with `sessionMigrations`.
 *
 * A write of the store is not a part of a transaction that is open around it: a sign-out takes effect even if the handler rolls back. A
 * read uses the open transaction, because code that holds a connection and waits for a second one may wait for itself. The statements do
 * not end with the request: a client that leaves must not undo a sign-out, and must not count as a failure of the store. The limits of the
 * driver hold.
 *
 * The session stage saves after the handler, when its transactions have ended. Code that writes to the store itself inside of a transaction
 * needs a second connection; SQLite has one for writes, so there it is an `E_DB_SECOND_CONNECTION`.
 *
 * Not for very many requests a second: a read is one query, a save two. Use Redis for these.
 *
 * @example
 * const db = new ShopDatabase(postgres({ url }), { migrations: [sessionMigrations, readMigrations(folder)] });
 * builder.provide(provide(ShopDatabase).useValue(db)).session(new SessionConfig(key), new DatabaseSessionStore(db));
 */
import type { Kysely } from "kysely";
import { Database } from "../../../../db/database.js";
import { UniqueViolationError } from "../../../../db/database-error.js";
import { inCommitScope } from "../../../../lifecycle/commit-scope.js";
import type { Subsystem } from "../../../../lifecycle/subsystem.js";
import { inWorkScope } from "../../../../lifecycle/work-scope.js";
import {
  RENEW_AFTER_MS,
  SessionStore,
  type UpdatedSession,
  type SessionChanges,
  type SessionTimes,
  type SessionUpdate,
  type SessionValues,
  type StoredSession,
} from "../session-store.js";
import { createEndedRecord, createRecord, type SessionRecord } from "./session-record.js";
import { SessionSweep } from "./session-sweep.js";
import { SessionTable, type SessionTables, retryUntilDecided } from "./session-table.js";

export class DatabaseSessionStore<Tables = unknown> extends SessionStore {
  private readonly table: SessionTable;
  private readonly sweep: SessionSweep;

  constructor(private readonly db: Database<Tables>) {
    super();
    db.requireTable({
      table: "framework_sessions",
      migrations: "sessionMigrations of @stagecraft/framework/session/db",
    });
    // The migration creates this table. A plugin of the application would rename its columns.
    this.table = new SessionTable(db.query.withoutPlugins() as unknown as Kysely<SessionTables>);
    this.sweep = new SessionSweep(this.table);
  }

  override get subsystems(): readonly Subsystem[] {
    return [this.db];
  }

  override async load(key: string, now: number): Promise<StoredSession | undefined> {
    const found = await inWorkScope(undefined, () => this.table.find(key), undefined);
    return isLive(found, now) ? found : undefined;
  }

  override create(key: string, values: SessionValues, times: SessionTimes): Promise<boolean> {
    return this.write(times.now, () => this.table.insertNew(createRecord(key, values, times)));
  }

  override update(key: string, changes: SessionChanges, times: SessionTimes): Promise<SessionUpdate> {
    return this.write(times.now, () => retryUntilDecided(() => this.tryUpdate(key, changes, times)));
  }

  override move(
    from: string,
    to: string,
    changes: SessionChanges,
    times: SessionTimes,
  ): Promise<SessionUpdate | "taken"> {
    return this.write(times.now, () => retryUntilDecided(() => this.tryMove(from, to, changes, times)));
  }

  override async end(key: string, now: number): Promise<void> {
    await this.write(now, () => retryUntilDecided(() => this.tryEnd(key, now)));
  }

  override async listOfOwner(owner: string, now: number): Promise<readonly StoredSession[]> {
    return inWorkScope(undefined, () => this.table.listOfOwner(owner, now), undefined);
  }

  /** In steps of 200 rows. The writes of the store do the same in the background. */
  override sweepExpired(now = Date.now()): Promise<number> {
    return this.runOutsideScopes(() => this.sweep.sweepAll(now));
  }

  /** `undefined` if another request was faster. */
  private async tryUpdate(
    key: string,
    changes: SessionChanges,
    times: SessionTimes,
  ): Promise<SessionUpdate | undefined> {
    const found = await this.table.find(key);
    if (!isLive(found, times.now)) return getMissingReason(found, times);
    const isRenewed = times.renew && times.now - found.renewedAt >= RENEW_AFTER_MS;
    const hasChanges = changes.set.size > 0 || changes.deleted.length > 0;
    if (!isRenewed && !hasChanges) return toUpdatedSession(found, false);
    const values = mergeChanges(found.values, changes);
    const next = isRenewed ? createRecord(key, values, times, found.createdAt) : { ...found, values };
    return (await this.table.replace(found, next)) ? toUpdatedSession(next, isRenewed) : undefined;
  }

  private async tryMove(
    from: string,
    to: string,
    changes: SessionChanges,
    times: SessionTimes,
  ): Promise<SessionUpdate | "taken" | undefined> {
    const found = await this.table.find(from);
    if (!isLive(found, times.now)) return getMissingReason(found, times);
    const next = createRecord(to, mergeChanges(found.values, changes), { ...times, renew: true }, found.createdAt);
    try {
      return await this.db.transaction(async () => {
        if (!(await this.table.replace(found, createEndedRecord(from, times.now)))) return undefined;
        await this.table.insert(next);
        return toUpdatedSession(next, true);
      });
    } catch (error) {
      if (error instanceof UniqueViolationError) return "taken";
      throw error;
    }
  }

  /** Also remembers the end of a session without a row. */
  private async tryEnd(key: string, now: number): Promise<true | undefined> {
    const isEnded = (await this.table.end(key, now)) || (await this.table.insertNew(createEndedRecord(key, now)));
    return isEnded || undefined;
  }

  private write<T>(now: number, work: () => Promise<T>): Promise<T> {
    return this.runOutsideScopes(async () => {
      const result = await work();
      this.sweep.afterWrite(now);
      return result;
    });
  }

  /** Outside of the open transaction, and without the signal of the request. */
  private async runOutsideScopes<T>(work: () => Promise<T>): Promise<T> {
    this.db.refuseSecondWrite();
    return inCommitScope(undefined, () => inWorkScope(undefined, work, undefined));
  }
}

function isLive(record: SessionRecord | undefined, now: number): record is SessionRecord {
  return record !== undefined && record.endedAt === undefined && record.expiresAt > now;
}

function getMissingReason(record: SessionRecord | undefined, { startedAt }: SessionTimes): "ended" | "unknown" {
  return record?.endedAt !== undefined && record.endedAt >= startedAt ? "ended" : "unknown";
}

function toUpdatedSession({ expiresAt, values }: SessionRecord, isRenewed: boolean): UpdatedSession {
  return { isRenewed, expiresAt, size: values.size };
}

function mergeChanges(values: SessionValues, { set, deleted }: SessionChanges): SessionValues {
  const next = new Map(values);
  for (const name of deleted) next.delete(name);
  for (const [name, text] of set) next.set(name, text);
  return next;
}
