/**
 * Idempotency keys in a database of the application; the entry point `@stagecraft/framework/idempotency/db`. The table comes with
 * `idempotencyMigrations`.
 *
 * The key, the effects of the handler in this database and its response are one transaction: the handler runs inside it, and its queries join
 * it. A process that dies, a client that leaves and a response of 5xx leave neither an effect nor a key. An error below 500 rolls back what
 * the handler did, and its response is stored.
 *
 * Not for a handler that takes long: its transaction is open meanwhile. Effects outside of the database belong into a job or `afterCommit`.
 *
 * @example
 * new Idempotency(new DatabaseIdempotencyStore(db), { principal: (ctx: Context & { user?: User }) => ctx.user?.id });
 */
import type { Kysely } from "kysely";
import type { Database } from "../../db/database.js";
import { DatabaseError } from "../../db/database-error.js";
import { ExpiredRows } from "../../db/expired-rows.js";
import type { Subsystem } from "../../lifecycle/subsystem.js";
import { tracing } from "../../tracing/tracing.js";
import {
  type ClaimState,
  type IdempotencyClaim,
  IdempotencyStore,
  type IdempotentWork,
  RAN,
  RUNNING,
  type WorkResult,
} from "../idempotency-store.js";
import { parseResponse, serializeResponse } from "../recorded-response.js";
import { IdempotencyTable, type IdempotencyTables } from "./idempotency-table.js";

const log = tracing.target("framework::idempotency");

/** A key may expire, or the transaction that has it may roll back, between two statements. */
const MAX_ROUNDS = 5;

/** Rolls the transaction of a key back. The key has the state then; `undefined` for a key that another attempt may get. */
class TransactionRolledBack extends Error {
  constructor(readonly state: ClaimState | undefined) {
    super("the transaction of an idempotency key is rolled back");
  }
}

/** Rolls the effects of a handler back, and leaves the key. */
class EffectsRolledBack extends Error {
  constructor(readonly result: WorkResult) {
    super("the effects of an idempotent request are rolled back");
  }
}

export class DatabaseIdempotencyStore<Tables = unknown> extends IdempotencyStore {
  private readonly table: IdempotencyTable;
  private readonly expired: ExpiredRows;

  constructor(private readonly db: Database<Tables>) {
    super();
    db.requireTable({
      table: "framework_idempotency_keys",
      migrations: "idempotencyMigrations of @stagecraft/framework/idempotency/db",
    });
    // The migration creates this table. A plugin of the application would rename its columns.
    const query = db.query.withoutPlugins() as unknown as Kysely<IdempotencyTables>;
    this.table = new IdempotencyTable(query, db.driver.dialect.family);
    this.expired = new ExpiredRows(
      (now, limit) => this.table.sweep(now, limit),
      (fields) => log.warn("sweep of idempotency keys failed", fields),
    );
  }

  override get subsystems(): readonly Subsystem[] {
    return [this.db];
  }

  override async run(claim: IdempotencyClaim, work: IdempotentWork): Promise<ClaimState> {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const state = await this.tryRun(claim, work);
      if (state === undefined) continue;
      this.expired.sweep(claim.clock.now());
      return state;
    }
    return RUNNING;
  }

  /** `undefined` where the key has become free meanwhile. */
  private async tryRun(claim: IdempotencyClaim, work: IdempotentWork): Promise<ClaimState | undefined> {
    try {
      return await this.db.transaction(async () =>
        (await this.insert(claim)) ? this.runInside(claim, work) : this.find(claim),
      );
    } catch (error) {
      if (error instanceof TransactionRolledBack) return error.state;
      throw error;
    }
  }

  private insert({ id, fingerprint, ttlMs, clock }: IdempotencyClaim): Promise<boolean> {
    return rollBackConflict(this.table.insert({ id, fingerprint, expiresAt: clock.now() + ttlMs }));
  }

  private async runInside({ id }: IdempotencyClaim, work: IdempotentWork): Promise<ClaimState> {
    const { outcome, response } = await this.runWork(work);
    if (outcome === "failed" || outcome === "released") throw new TransactionRolledBack(RAN);
    await this.table.setResponse(id, response === undefined ? null : serializeResponse(response));
    return RAN;
  }

  /** In a savepoint, so that the effects of a handler that threw are rolled back, and the key is not. */
  private async runWork(work: IdempotentWork): Promise<WorkResult> {
    try {
      return await this.db.transaction(async () => {
        const result = await work();
        if (result.outcome !== "done") throw new EffectsRolledBack(result);
        return result;
      });
    } catch (error) {
      if (error instanceof EffectsRolledBack) return error.result;
      throw error;
    }
  }

  private async find({ id, clock }: IdempotencyClaim): Promise<ClaimState | undefined> {
    const row = await this.table.find(id);
    if (row === undefined) return undefined;
    if (Number(row.expires_at) > clock.now()) {
      const { fingerprint, response } = row;
      return { kind: "recorded", fingerprint, response: response === null ? undefined : parseResponse(response) };
    }
    await rollBackConflict(this.table.deleteExpired(id, clock.now()));
    return undefined;
  }
}

/** For a statement before the work, which another transaction with the key prevents. @throws TransactionRolledBack */
async function rollBackConflict<T>(statement: Promise<T>): Promise<T> {
  try {
    return await statement;
  } catch (error) {
    if (hasKind(error, "busy")) throw new TransactionRolledBack(RUNNING);
    if (hasKind(error, "deadlock", "serialization")) throw new TransactionRolledBack(undefined);
    throw error;
  }
}

function hasKind(error: unknown, ...kinds: readonly DatabaseError["kind"][]): boolean {
  return error instanceof DatabaseError && kinds.includes(error.kind);
}
