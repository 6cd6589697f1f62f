/**
 * The contract of every driver of a database, as a suite of promises. It makes the table `framework_contract` and drops it at the end.
 *
 * It does not test the cancellation of a running statement, a connection that is lost, or the limits of a pool, because each engine needs
 * other means for them. The lock of the migrations is tested in one process, and not for `:memory:`, which no other process can open.
 *
 * @example
 * it("obeys the contract of a database", () => obeysDatabase(new ShopDatabase(myDriver())));
 */
import { inWorkScope } from "../../lifecycle/work-scope.js";
import { OVERDUE, SystemClock, within } from "../../runtime/clock.js";
import { markHandled } from "../../runtime/mark-handled.js";
import { checkPromises, type ContractPromise, getCode } from "./contract.js";

/** The part of a `DatabaseDriver` that the contract needs. */
export interface ContractDriver {
  readonly dialect: { readonly family: string };
  readonly address: string;
  lockMigrations(waitMs: number): Promise<{ release(): Promise<void> }>;
  failure(error: unknown): { readonly kind: string };
}

/** The part of a `Database` that the contract needs. */
export interface ContractDatabase {
  readonly driver: ContractDriver;
  run(text: string, binds?: readonly unknown[]): Promise<readonly Readonly<Record<string, unknown>>[]>;
  transaction<T>(
    fn: (run: { readonly attempt: number }) => T | Promise<T>,
    options?: { readonly readOnly?: boolean; readonly retries?: number },
  ): Promise<T>;
  afterCommit(work: () => unknown): void;
  probe(signal: AbortSignal): Promise<unknown>;
}

interface DatabaseTrial {
  readonly db: ContractDatabase;
  /** Adds a row. */
  readonly add: (id: number, name?: string | null, parent?: number) => Promise<unknown>;
  /** The ids of all rows. */
  readonly ids: () => Promise<readonly number[]>;
  readonly equal: (actual: unknown, expected: unknown, what: string) => void;
}

const TABLE = "framework_contract";
/** Longer than any wait of a driver that keeps its promises. */
const LOCK_LIMIT_MS = 10_000;
const CANARY = "canary4711secret";

/** @throws AssertionError listing every promise that the database breaks. The database is started, and stays so. */
export async function obeysDatabase(db: ContractDatabase): Promise<void> {
  await createTable(db);
  const verdict = `${db.constructor.name} does not obey the contract of a database`;
  try {
    await checkPromises(verdict, PROMISES, async (keeps, { equal }) => {
      await db.run(`delete from ${TABLE} where parent is not null`);
      await db.run(`delete from ${TABLE}`);
      await keeps(createTrial(db, equal));
    });
  } finally {
    await db.run(`drop table ${TABLE}`);
  }
}

async function createTable(db: ContractDatabase): Promise<void> {
  await db.run(`drop table if exists ${TABLE}`);
  await db.run(
    `create table ${TABLE} (id integer not null primary key, name varchar(100) not null, parent integer, ` +
      `unique (name), foreign key (parent) references ${TABLE} (id))${db.driver.dialect.family === "mysql" ? " character set utf8mb4" : ""}`,
  );
}

function createTrial(db: ContractDatabase, equal: DatabaseTrial["equal"]): DatabaseTrial {
  const binds = db.driver.dialect.family === "postgres" ? "$1, $2, $3" : "?, ?, ?";
  return {
    db,
    add: (id, name = `row ${id}`, parent) =>
      db.run(`insert into ${TABLE} (id, name, parent) values (${binds})`, [id, name, parent ?? null]),
    ids: async () => (await db.run(`select id from ${TABLE} order by id`)).map(({ id }) => Number(id)),
    equal,
  };
}

const failed = new Error("the function failed");

function fail(): never {
  throw failed;
}

/** Waits 50 ms for the lock of the migrations. Returns the kind of the failure. */
async function findLockFailure(driver: ContractDriver): Promise<string> {
  const attempt = driver.lockMigrations(50).then(
    async (lock) => (await lock.release(), "none"),
    (error: unknown) => driver.failure(error).kind,
  );
  const kind = await within(new SystemClock(), LOCK_LIMIT_MS, attempt);
  return kind === OVERDUE ? `none within ${LOCK_LIMIT_MS} ms` : kind;
}

const PROMISES: readonly ContractPromise<DatabaseTrial>[] = [
  [
    "a value of any text is stored unchanged",
    async ({ db, add, equal }) => {
      const values = ["'; drop table x; --", 'a "b" `c` \\ %', "\u{1F600} \u00e9 \u2028", "?$1:name"];
      for (const [id, value] of values.entries()) await add(id, value);
      const rows = await db.run(`select name from ${TABLE} order by id`);
      equal(
        rows.map(({ name }) => name),
        values,
        "the text",
      );
    },
  ],
  [
    "a text with the character NUL is stored whole, or refused",
    async ({ db, add, equal }) => {
      await add(1, "text");
      const code = await getCode(add(2, "text\0more"));
      const rows = await db.run(`select name from ${TABLE} order by id`);
      const names = code === "E_DB_TEXT" ? ["text"] : ["text", "text\0more"];
      equal([code, rows.map(({ name }) => name)], [code === "E_DB_TEXT" ? code : "no error", names], "the text");
    },
  ],
  [
    "a transaction commits, and rolls back when its function throws",
    async ({ db, add, ids, equal }) => {
      equal(await db.transaction(async () => (await add(1), "result")), "result", "the result");
      equal(
        (await getCode(
          db.transaction(async () => {
            await add(2);
            fail();
          }),
        )) === failed,
        true,
        "whether the error of the function comes back",
      );
      equal(await ids(), [1], "what is stored");
    },
  ],
  [
    "a nested transaction undoes only its own work, also after a failure of the engine",
    async ({ db, add, ids, equal }) => {
      await db.transaction(async () => {
        await add(1);
        await getCode(db.transaction(async () => (await add(2), fail())));
        equal(await getCode(db.transaction(async () => (await add(3), add(1)))), "E_DB_UNIQUE", "the failure");
        await db.transaction(() => add(4));
      });
      equal(await ids(), [1, 4], "what is stored");
    },
  ],
  [
    "nested transactions at the same time run one after the other",
    async ({ db, add, ids, equal }) => {
      const sibling = async (id: number): Promise<void> => {
        await add(id);
        await new Promise((resolve) => setImmediate(resolve));
        if (id % 2 === 0) fail();
      };
      await db.transaction(() => Promise.allSettled([1, 2, 3, 4, 5].map((id) => db.transaction(() => sibling(id)))));
      equal(await ids(), [1, 3, 5], "what is stored");
    },
  ],
  [
    "failures have their codes, and no value",
    async ({ db, add, equal }) => {
      await add(1, CANARY);
      const failures = [add(2, CANARY), add(3, `${CANARY}3`, 99), add(4, null), db.run("select missing from nowhere")];
      const codes: unknown[] = [];
      for (const work of failures)
        await work.catch((error: unknown) => {
          codes.push((error as { readonly code?: unknown }).code);
          const text = `${String(error)} ${JSON.stringify(error)} ${String((error as Error).cause)}`;
          equal(text.includes(CANARY), false, "whether a value is in an error");
        });
      equal(
        codes.map(String).toSorted((one, other) => (one < other ? -1 : 1)),
        ["E_DB", "E_DB_FOREIGN_KEY", "E_DB_NOT_NULL", "E_DB_UNIQUE"],
        "the list of codes",
      );
    },
  ],
  [
    "a read-only transaction refuses a write, and later transactions write",
    async ({ db, add, ids, equal }) => {
      equal(await db.transaction(ids, { readOnly: true }), [], "what it reads");
      equal(await getCode(db.transaction(() => add(1), { readOnly: true })), "E_DB_READ_ONLY", "the code");
      await db.transaction(() => add(2));
      equal(await ids(), [2], "what is stored");
    },
  ],
  [
    "the end of the request rolls back, also while the function waits",
    async ({ db, add, ids, equal }) => {
      const request = new AbortController();
      const work = async (): Promise<void> => {
        await add(1);
        request.abort(failed);
        await new Promise((_, reject) => {
          setTimeout(() => reject(new Error("too late")), 200);
        });
      };
      const ended = inWorkScope({ signal: request.signal }, () => getCode(db.transaction(work)), undefined);
      await db.transaction(() => add(2));
      equal(await ids(), [2], "what is stored before the function ended");
      equal(((await ended) as Error).message, "too late", "the error of the function");
    },
  ],
  [
    "work for after the commit runs once, in order, and only after it",
    async ({ db, add, equal }) => {
      const seen: string[] = [];
      await db.transaction(async () => {
        db.afterCommit(() => seen.push("first"));
        await db.transaction(() => db.afterCommit(() => seen.push("second")));
        await getCode(db.transaction(async () => (db.afterCommit(() => seen.push("never")), await add(1), fail())));
        equal(seen, [], "what ran before the commit");
      });
      equal(seen, ["first", "second"], "what ran");
    },
  ],
  [
    "work that goes on after its transaction is refused",
    async ({ db, add, equal }) => {
      let late: Promise<unknown> = Promise.resolve();
      await db.transaction(() => {
        late = getCode(new Promise((resolve) => setTimeout(resolve, 5)).then(() => add(1)));
      });
      equal(await late, "E_DB_TRANSACTION_OVER", "the code");
    },
  ],
  [
    "many transactions at the same time lose no row",
    async ({ db, add, ids, equal }) => {
      const numbers = Array.from({ length: 30 }, (_, index) => index + 1);
      await Promise.all(numbers.map((id) => db.transaction(() => add(id), { retries: 20 })));
      equal(await ids(), numbers, "what is stored");
    },
  ],
  [
    "failures cost no connection",
    async ({ db, add, ids, equal }) => {
      await add(1);
      for (let count = 0; count < 50; count++) {
        await getCode(add(1));
        await getCode(db.transaction(() => add(1)));
      }
      equal(await ids(), [1], "what is stored");
      await db.probe(AbortSignal.timeout(5_000));
    },
  ],
  [
    "two locks of the migrations exclude each other, and a wait for the lock ends",
    async ({ db: { driver }, equal }) => {
      if (driver.address === ":memory:") return;
      const first = await driver.lockMigrations(LOCK_LIMIT_MS);
      const steps: string[] = [];
      const second = markHandled(driver.lockMigrations(LOCK_LIMIT_MS).then((lock) => (steps.push("locked"), lock)));
      equal(await findLockFailure(driver), "busy", "the failure of a wait of 50 ms");
      steps.push("released");
      await first.release();
      const lock = await within(new SystemClock(), LOCK_LIMIT_MS, second);
      if (lock !== OVERDUE) await lock.release();
      equal(steps, ["released", "locked"], "the order of the release and the second lock");
      equal(await findLockFailure(driver), "none", "the failure after all releases");
    },
  ],
];
