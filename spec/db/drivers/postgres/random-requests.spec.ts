/** Requests of any mix on a real PostgreSQL with one or two connections: each call gets its own result, and no connection stays in use. */
import { setMaxListeners } from "node:events";
import { expect } from "chai";
import * as fc from "fast-check";
import { Database } from "@stagecraft/framework/db";
import { inWorkScope } from "../../../../lib/lifecycle/work-scope.js";
import { postgres } from "../../../../lib/db/drivers/postgres/postgres-driver.js";
import { needs } from "../../../support/machine.js";
import { PostgresServer } from "../../../support/postgres-server.js";
import { unhandledDuring } from "../../../support/unhandled-during.js";
import { until } from "../../../support/until.js";

const RUNS = 20;
/** The machine may be busy. */
const BOUND_MS = 60_000;

class TagDatabase extends Database<object> {}

type Kind = "rows" | "prepared" | "fails" | "sleeps" | "unwritable" | "writes" | "transaction" | "undone";

interface Call {
  readonly kind: Kind;
  /** Rows, or milliseconds, or which of the binds. */
  readonly size: number;
}

interface Visit {
  readonly calls: readonly Call[];
  readonly startsAfterMs: number;
  readonly leavesAfterMs: number | undefined;
}

interface Outcome {
  readonly tag: string;
  readonly call: Call;
  readonly mayLeave: boolean;
  readonly hasLeft: boolean;
  readonly result: PromiseSettledResult<unknown>;
}

const circular: Record<string, unknown> = {};
circular["self"] = circular;
const UNWRITABLE: readonly unknown[] = [circular, { a: 1n }, () => 1, Symbol("bind"), [circular], undefined];

const READS: readonly Kind[] = ["rows", "prepared", "prepared", "fails", "sleeps", "sleeps", "sleeps", "unwritable"];
const anyKind = fc.constantFrom<Kind>(...READS, ...READS, "writes", "transaction", "undone");
const anyCall = fc.record({ kind: anyKind, size: fc.constantFrom(0, 1, 5, 9, 50) });
const anyVisit: fc.Arbitrary<Visit> = fc.record({
  calls: fc.array(anyCall, { minLength: 1, maxLength: 24 }),
  startsAfterMs: fc.integer({ min: 0, max: 3 }),
  leavesAfterMs: fc.option(fc.integer({ min: 0, max: 60 }), { nil: undefined, freq: 2 }),
});

describe("requests of any mix on PostgreSQL", function () {
  this.timeout(180_000);
  let server: PostgresServer;
  let runs = 0;

  before(needs("postgres"));
  before(async () => {
    server = await PostgresServer.borrow();
    await server.run("create table written (tag text)");
  });
  after(() => server[Symbol.asyncDispose]());

  it("each get their own rows and failures, and leave no connection in use", async () => {
    const property = fc.asyncProperty(
      fc.array(anyVisit, { minLength: 2, maxLength: 5 }),
      fc.constantFrom(1, 2),
      async (all, max) => {
        const name = `run ${runs++}`;
        const db = new TagDatabase(
          postgres({ url: server.url, pool: { max, waitMs: BOUND_MS }, applicationName: name }),
        );
        await db.start();
        try {
          let outcomes: readonly Outcome[] = [];
          const unhandled = await unhandledDuring(async () => {
            outcomes = (await Promise.all(all.map((visit) => visited(db, visit, `visit ${runs++}`)))).flat();
          });
          expect(unhandled).to.deep.equal([]);
          const written = await db.run("select tag from written");
          for (const outcome of outcomes) expectOwn(outcome, written.filter(({ tag }) => tag === outcome.tag).length);
          await expectWhole(db, name, max);
        } finally {
          await db.stop();
        }
      },
    );
    await fc.assert(property, { numRuns: RUNS });
  });

  async function expectWhole(db: TagDatabase, name: string, max: number): Promise<void> {
    expect(await Promise.all([1, 2, 3].map((n) => db.run("select $1::int as n", [n])))).to.deep.equal(
      [1, 2, 3].map((n) => [{ n }]),
    );
    // A connection that has just started has no state yet.
    await until(async () => {
      const sessions = await server.run(`select state from pg_stat_activity where application_name = '${name}'`);
      return sessions.length <= max && sessions.every(({ state }) => state === "idle");
    });
    expect(db.driver).to.have.nested.property("pool.figures.inUse", 0);
  }
});

async function visited(db: TagDatabase, { calls, startsAfterMs, leavesAfterMs }: Visit, name: string) {
  await new Promise((resolve) => setTimeout(resolve, startsAfterMs));
  const leaving = new AbortController();
  setMaxListeners(0, leaving.signal);
  const left = new Error(`${name} has left`);
  if (leavesAfterMs !== undefined) setTimeout(() => leaving.abort(left), leavesAfterMs);
  const run = (call: Call, index: number) => ownCall(db, call, `${name}-${index}`);
  const results = inWorkScope(
    { signal: leaving.signal },
    () => calls.map((call, index) => bounded(run(call, index))),
    0,
  );
  return (await Promise.allSettled(results)).map((result, index): Outcome => {
    const hasLeft = result.status === "rejected" && result.reason === left;
    return {
      tag: `${name}-${index}`,
      call: calls[index] as Call,
      mayLeave: leavesAfterMs !== undefined,
      hasLeft,
      result,
    };
  });
}

function ownCall(db: TagDatabase, { kind, size }: Call, tag: string): Promise<unknown> {
  const write = () => db.run("insert into written values ($1)", [tag]);
  const run: Readonly<Record<Kind, () => Promise<unknown>>> = {
    rows: () => db.run(`select '${tag}' as tag, i from generate_series(1, ${size * 20}) i`),
    prepared: () => db.run("select $1::text as tag, i from generate_series(1, $2::int) i", [tag, size]),
    fails: () => db.run(`select 10 / ($1::int - $1::int) as ${size === 0 ? "n" : `"${tag}"`}`, [size]),
    sleeps: () => db.run("select $1::text as tag, pg_sleep($2::float8 / 1000)::text as slept", [tag, size]),
    unwritable: () => db.run("select $1::text as tag, $2::jsonb", [tag, UNWRITABLE[size % UNWRITABLE.length]]),
    writes: write,
    transaction: () =>
      db.transaction(async () => {
        await write();
        return db.run("select $1::text as tag, pg_sleep($2::float8 / 4000)::text as slept", [tag, size]);
      }),
    undone: () =>
      db.transaction(async () => {
        await write();
        throw new Error(tag);
      }),
  };
  return run[kind]();
}

/** @param written how often the tag of the call is in the table */
function expectOwn({ call: { kind, size }, tag, mayLeave, hasLeft, result }: Outcome, written: number): void {
  if (hasLeft) return void expect(written, `${kind} ${tag}, whose visitor has left`).to.equal(0);
  if (result.status === "rejected") {
    const expected = { fails: "22012", unwritable: "E_DB_BIND", undone: tag } as Readonly<Record<string, string>>;
    const { engineCode, code, message } = result.reason as { engineCode?: string; code?: string; message: string };
    // A server that takes longer than a second to cancel a write loses the connection.
    if (mayLeave && code === "E_DB_UNKNOWN_OUTCOME") return;
    expect([engineCode, code, message], `${kind} ${tag}`).to.include(expected[kind]);
    return void expect(written).to.equal(0);
  }
  expect(kind).to.not.be.oneOf(["fails", "unwritable", "undone"]);
  expect(written).to.equal(kind === "writes" || kind === "transaction" ? 1 : 0);
  const series = (length: number) => Array.from({ length }, (_, index) => ({ tag, i: index + 1 }));
  const slept = [{ tag, slept: "" }];
  const rows = { rows: series(size * 20), prepared: series(size), sleeps: slept, transaction: slept, writes: [] };
  expect(result.value).to.deep.equal((rows as Readonly<Record<string, unknown>>)[kind]);
}

function bounded<T>(work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`not settled within ${BOUND_MS} ms`)), BOUND_MS);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
