/**
 * The statements on the table `framework_idempotency_keys`. An insert decides which of several requests has the key. It waits for the
 * transaction of another one, for a bounded time: each request that waits has a connection.
 */
import type { Kysely, RawBuilder } from "kysely";
import type { SqlFamily } from "../../db/dialect.js";
import { sql } from "../../db/kysely.js";
import { MAX_WAIT_MS } from "../idempotency-store.js";

interface KeyRow {
  readonly id: string;
  readonly fingerprint: string;
  /** The text of a response; `null` for one that was not stored. */
  readonly response: string | null;
  /** Milliseconds since the Unix epoch, in the types that drivers give it by their options. */
  readonly expires_at: number | bigint | string;
}

export interface IdempotencyTables {
  readonly framework_idempotency_keys: KeyRow;
}

export interface NewKey {
  readonly id: string;
  readonly fingerprint: string;
  readonly expiresAt: number;
}

const TABLE = "framework_idempotency_keys";

/** Returns its row where it has inserted one. */
type Insert = (key: NewKey) => RawBuilder<unknown>;

const INSERTS: Readonly<Record<SqlFamily, Insert>> = {
  // One transaction at a time writes, so no insert waits.
  sqlite: ({ id, fingerprint, expiresAt }) =>
    sql`INSERT INTO framework_idempotency_keys (id, fingerprint, expires_at) VALUES (${id}, ${fingerprint}, ${expiresAt}) ON CONFLICT DO NOTHING`,
  // The setting returns to its old value in the same statement, so that it does not bind the statements of the handler.
  postgres: ({ id, fingerprint, expiresAt }) => sql`
    WITH old AS MATERIALIZED (SELECT current_setting('lock_timeout') AS value),
      bound AS MATERIALIZED (SELECT value, set_config('lock_timeout',
        CASE WHEN value = '0' OR CAST(value AS interval) > interval '${sql.raw(String(MAX_WAIT_MS))} ms'
        THEN '${sql.raw(String(MAX_WAIT_MS))}' ELSE value END, true) FROM old),
      added AS (INSERT INTO framework_idempotency_keys (id, fingerprint, expires_at)
        SELECT CAST(${id} AS text), CAST(${fingerprint} AS text), CAST(${expiresAt} AS bigint) FROM bound
        ON CONFLICT DO NOTHING RETURNING id),
      done AS MATERIALIZED (SELECT MAX(id) AS id FROM added)
    SELECT id, set_config('lock_timeout', value, true) FROM done, bound`,
  // MariaDB reads the comment as a part of the statement. MySQL has no bound for one statement.
  mysql: ({ id, fingerprint, expiresAt }) =>
    sql`/*M!100100 SET STATEMENT innodb_lock_wait_timeout = LEAST(@@innodb_lock_wait_timeout, ${sql.raw(String(MAX_WAIT_MS / 1000))}) FOR */ INSERT IGNORE INTO framework_idempotency_keys (id, fingerprint, expires_at) VALUES (${id}, ${fingerprint}, ${expiresAt})`,
};

export class IdempotencyTable {
  constructor(
    private readonly query: Kysely<IdempotencyTables>,
    private readonly family: SqlFamily,
  ) {}

  /** False where there is a row with the id. @throws DatabaseError of kind `busy` where another transaction has the id for too long */
  async insert(key: NewKey): Promise<boolean> {
    const { rows, numAffectedRows } = await INSERTS[this.family](key).execute(this.query);
    if (this.family !== "postgres") return numAffectedRows === 1n;
    return typeof Object(rows[0]).id === "string";
  }

  async find(id: string): Promise<KeyRow | undefined> {
    return this.query.selectFrom(TABLE).selectAll().where("id", "=", id).executeTakeFirst();
  }

  async setResponse(id: string, response: string | null): Promise<void> {
    await this.query.updateTable(TABLE).set({ response }).where("id", "=", id).execute();
  }

  async deleteExpired(id: string, now: number): Promise<void> {
    await this.query.deleteFrom(TABLE).where("id", "=", id).where("expires_at", "<=", now).execute();
  }

  /** Deletes up to `limit` rows, and returns how many it found. */
  async sweep(now: number, limit: number): Promise<number> {
    const rows = await this.query
      .selectFrom(TABLE)
      .select("id")
      .where("expires_at", "<=", now)
      .orderBy("expires_at")
      .limit(limit)
      .execute();
    const ids = rows.map(({ id }) => id);
    if (ids.length > 0)
      await this.query.deleteFrom(TABLE).where("id", "in", ids).where("expires_at", "<=", now).execute();
    return ids.length;
  }
}
