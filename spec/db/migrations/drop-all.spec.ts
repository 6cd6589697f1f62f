/** `migrations.dropAll` on each engine: everything of the schema goes, nothing beside it, and a table in use is waited for in bounded time. */
import { Database, type DatabaseDriver, type Migration, sql } from "@stagecraft/framework/db";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { expect } from "chai";
import { mysql } from "../../../lib/db/drivers/mysql/mysql-driver.js";
import { postgres } from "../../../lib/db/drivers/postgres/postgres-driver.js";
import { Gate } from "../../support/gate.js";
import { needs } from "../../support/machine.js";
import { MariadbServer } from "../../support/mariadb-server.js";
import { PostgresServer } from "../../support/postgres-server.js";
import { rejectionOf } from "../../support/rejection-of.js";
import { temporaryFolder } from "../shop-database.js";

class NoteDatabase extends Database<Record<string, Record<string, unknown>>> implements AsyncDisposable {
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

const BOUNDED_MS = 1000;

interface Engine {
  readonly name: string;
  readonly program: "postgres" | "mariadbd" | undefined;
  readonly start: () => Promise<AsyncDisposable & { readonly driver: () => DatabaseDriver }>;
  /** Tables that reference each other, a view on them, hostile names, and other objects of the engine. */
  readonly schema: readonly string[];
  /** The names of what is left. */
  readonly left: string;
  /** What is not of the schema. */
  readonly beside?: readonly [create: string, count: string, drop: string];
}

const ENGINES: readonly Engine[] = [
  {
    name: "SQLite",
    program: undefined,
    start: async () => {
      const folder = await temporaryFolder();
      const driver = () => sqlite(folder.file("notes.db"), { waitMs: BOUNDED_MS });
      return { driver, [Symbol.asyncDispose]: folder[Symbol.asyncDispose] };
    },
    schema: [
      `create table "or""der'; --" (id integer primary key autoincrement, note integer references note (id) on delete restrict)`,
      `create table note (id integer primary key, other integer references "or""der'; --" (id) on delete restrict)`,
      `insert into note values (1, null)`,
      `insert into "or""der'; --" values (1, 1)`,
      `update note set other = 1`,
      `create view "the view" as select * from note`,
      `create trigger kept after insert on note begin select 1; end`,
      `create virtual table words using fts5(text)`,
      `create index others on note (other)`,
    ],
    left: `select name from sqlite_schema where name not like 'sqlite_%'`,
  },
  {
    name: "PostgreSQL",
    program: "postgres",
    start: async () => {
      const server = await PostgresServer.borrow();
      const driver = () => postgres({ url: server.url, lockTimeoutMs: BOUNDED_MS });
      return { driver, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
    },
    schema: [
      `create type mood as enum ('good')`,
      `create type "a pair" as (one int, other int)`,
      `create domain "Slug" as text check (value <> '')`,
      `create table "or""der'; --" (id serial primary key, feels mood, slug "Slug", both_of "a pair")`,
      `create table note (id int primary key, other int references "or""der'; --" (id) on delete restrict)`,
      `alter table "or""der'; --" add foreign key (id) references note (id) deferrable initially deferred`,
      `create view "the view" as select * from note`,
      `create materialized view kept as select * from "the view"`,
      `create table parts (day date) partition by range (day)`,
      `create table first_part partition of parts for values from ('2026-01-01') to ('2027-01-01')`,
      `create sequence counted`,
      `create function twice(n int, m mood) returns int language sql as 'select n * 2'`,
      `create procedure nothing() language sql as ''`,
      `create aggregate total(int) (sfunc = int4pl, stype = int)`,
    ],
    left: `select relname from pg_class where relnamespace = 'public'::regnamespace
      union all select proname from pg_proc where pronamespace = 'public'::regnamespace
      union all select typname from pg_type where typnamespace = 'public'::regnamespace`,
    beside: [
      `create schema other create table note (id int)`,
      `select relname from pg_class where relnamespace = 'other'::regnamespace`,
      `drop schema other cascade`,
    ],
  },
  {
    name: "MariaDB",
    program: "mariadbd",
    start: async () => {
      const server = await MariadbServer.borrow();
      const driver = () => mysql({ url: server.url, lockTimeoutMs: BOUNDED_MS });
      return { driver, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
    },
    schema: [
      "create table `or``der'; --` (id integer primary key, note integer)",
      "create table note (id integer primary key, other integer, foreign key (other) references `or``der'; --` (id) on delete restrict)",
      "alter table `or``der'; --` add foreign key (note) references note (id) on delete restrict",
      "create view `the view` as select * from note",
      "create trigger kept after insert on note for each row set @kept = 1",
      "create sequence counted",
      "create procedure nothing() select 1",
      "create function twice(n int) returns int deterministic return n * 2",
      "create event later on schedule every 1 year do select 1",
    ],
    left: `select table_name from information_schema.tables where table_schema = database()
      union all select routine_name from information_schema.routines where routine_schema = database()
      union all select event_name from information_schema.events where event_schema = database()`,
    beside: [
      "create database other",
      "select schema_name from information_schema.schemata where schema_name = 'other'",
      "drop database other",
    ],
  },
];

describe("dropAll of", function () {
  this.timeout(60_000);

  for (const { name, program, start, schema, left, beside } of ENGINES) {
    describe(name, () => {
      let engine: Awaited<ReturnType<Engine["start"]>>;

      if (program !== undefined) before(needs(program));
      before(async () => {
        engine = await start();
      });
      after(() => engine[Symbol.asyncDispose]());

      const steps: Migration = {
        name: "steps",
        up: async (db) => {
          for (const statement of schema) await sql.raw(statement).execute(db);
        },
      };
      const open = async (): Promise<NoteDatabase> => {
        const db = new NoteDatabase(engine.driver(), { migrations: [steps], migrate: true });
        await db.start();
        return db;
      };

      it("drops everything of the schema, and the migrations run again", async () => {
        await using db = await open();
        for (let round = 1; round <= 2; round++) {
          expect(await db.run(left)).to.have.length.above(5);

          await db.migrations.dropAll();

          expect(await db.run(left)).to.deep.equal([]);
          expect(await db.migrations.run()).to.deep.equal(["steps"]);
        }
      });

      if (beside !== undefined)
        it("drops nothing beside it", async () => {
          await using db = await open();
          const [create, count, drop] = beside;
          await db.run(create);

          await db.migrations.dropAll();

          expect(await db.run(count)).to.have.length(1);
          await db.run(drop);
        });

      it("fails in bounded time while another process uses a table, and foreign keys count afterwards", async () => {
        await using db = await open();
        await using user = await open();
        const [isIn, mayEnd] = [new Gate(), new Gate()];
        const using = user.transaction(async () => {
          await user.run("insert into note (id) values (7)");
          isIn.open();
          await mayEnd.passed;
        });
        await isIn.passed;

        const error = await rejectionOf(db.migrations.dropAll());
        mayEnd.open();
        await using;

        expect(error).to.include({ code: "E_DB_BUSY" });
        expect(await db.run("select id from note where id = 7")).to.have.length(1);
        await rejectionOf(db.run("insert into note (id, other) values (8, 99)"));
      });
    });
  }
});
