/** Columns of JSON: every value of JSON is read as it was written, on every engine, and half of a surrogate pair is refused. */
import { Database, type DatabaseDriver, json, sql } from "@stagecraft/framework/db";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { expect } from "chai";
import * as fc from "fast-check";
import { mysql } from "../../lib/db/drivers/mysql/mysql-driver.js";
import { postgres } from "../../lib/db/drivers/postgres/postgres-driver.js";
import { needs } from "../support/machine.js";
import { MariadbServer } from "../support/mariadb-server.js";
import { PostgresServer } from "../support/postgres-server.js";
import { rejectionOf } from "../support/rejection-of.js";

class NoteDatabase extends Database<{ notes: { id: number; body: unknown; tags?: readonly string[] } }> {}

const RUNS = 200;
const HALF = "a \uD83D b";
/** A plain bind of these values may become another value. */
const SPECIAL: readonly unknown[] = [
  [],
  {},
  "5",
  5,
  "null",
  null,
  "[]",
  "a'b\\",
  [[1]],
  "☃🎉",
  { a: [] },
  true,
  "",
  -1.5,
  [2 ** 53, -(2 ** 53)],
];

interface Engine {
  readonly name: string;
  readonly program: "postgres" | "mariadbd" | undefined;
  readonly types: readonly string[];
  readonly start: () => Promise<AsyncDisposable & { readonly driver: DatabaseDriver }>;
}

const ENGINES: readonly Engine[] = [
  {
    name: "SQLite",
    program: undefined,
    types: ["text"],
    start: async () => ({ driver: sqlite(":memory:"), [Symbol.asyncDispose]: async () => {} }),
  },
  {
    name: "PostgreSQL",
    program: "postgres",
    types: ["jsonb", "json"],
    start: async () => {
      const server = await PostgresServer.borrow();
      return { driver: postgres(server.url), [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
    },
  },
  {
    name: "MariaDB",
    program: "mariadbd",
    types: ["json"],
    start: async () => {
      const server = await MariadbServer.borrow();
      return { driver: mysql(server.url), [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
    },
  },
];

for (const { name, program, types, start } of ENGINES)
  for (const type of types)
    describe(`a column ${type} of ${name}`, function () {
      this.timeout(60_000);
      const isPostgres = name === "PostgreSQL";
      let engine: Awaited<ReturnType<Engine["start"]>>;
      let db: NoteDatabase;

      if (program !== undefined) before(needs(program));
      before(async () => {
        engine = await start();
        db = new NoteDatabase(engine.driver);
        await db.start();
        await db.run(`create table notes (id integer primary key, body ${type}${isPostgres ? ", tags text[]" : ""})`);
      });
      beforeEach(() => db.run("delete from notes"));
      after(async () => {
        await db.run("drop table notes");
        await db.stop();
        await engine[Symbol.asyncDispose]();
      });

      const place = isPostgres ? "$1" : "?";

      /** SQLite gives the text. */
      const stored = async (): Promise<unknown> => {
        const { body } = await db.query.selectFrom("notes").select("body").executeTakeFirstOrThrow();
        return name === "SQLite" ? JSON.parse(String(body)) : body;
      };

      const through = async (write: () => Promise<unknown>): Promise<unknown> => {
        await db.run("delete from notes");
        await write();
        return stored();
      };

      it("returns every value of json(value)", async () => {
        let kept = 0;
        const check = async (value: unknown) => {
          const write = () =>
            db.query
              .insertInto("notes")
              .values({ id: 1, body: json(value) })
              .execute();
          // A text of jsonb has no NUL.
          if (type === "jsonb" && JSON.stringify(value).includes("\\u0000")) {
            expect(await rejectionOf(write())).to.include({ status: 400 });
            return;
          }
          expect(await through(write)).to.deep.equal(JSON.parse(JSON.stringify(value)));
          kept++;
        };
        for (const value of SPECIAL) await check(value);
        await fc.assert(fc.asyncProperty(fc.jsonValue({ stringUnit: "binary" }), check), { numRuns: RUNS });
        expect(kept).to.be.greaterThan(RUNS / 2);
      });

      it("returns json(value) of db.run, of an update, of a prepared query and of a condition", async () => {
        const insert = db.prepared((body: unknown) => db.query.insertInto("notes").values({ id: 1, body }));
        expect(await through(() => insert.all(json("5")))).to.equal("5");
        expect(
          await through(() => db.run(`insert into notes (id, body) values (1, ${place})`, [json([])])),
        ).to.deep.equal([]);
        await db.query
          .updateTable("notes")
          .set({ body: json({ a: ["x"] }) })
          .execute();
        expect(await stored()).to.deep.equal({ a: ["x"] });
        if (type === "json") return;
        expect(
          await db.query
            .selectFrom("notes")
            .selectAll()
            .where("body", "=", json({ a: ["x"] }))
            .execute(),
        ).to.have.length(1);
      });

      it("refuses half of a surrogate pair with 400, in JSON and in a text", async () => {
        for (const write of [
          async () =>
            db.query
              .insertInto("notes")
              .values({ id: 1, body: json({ a: HALF }) })
              .execute(),
          async () =>
            db.query
              .insertInto("notes")
              .values({ id: 1, body: json({ [HALF]: 1 }) })
              .execute(),
          async () => db.query.insertInto("notes").values({ id: 1, body: HALF }).execute(),
          async () => sql`select * from notes where ${HALF} = 'a'`.execute(db.query),
        ])
          expect(await rejectionOf(write())).to.include({ code: "E_DB_TEXT", status: 400 });
        // The escape is a part of the text.
        const text = String.raw`\ud83d`;
        expect(
          await through(() =>
            db.query
              .insertInto("notes")
              .values({ id: 1, body: json(text) })
              .execute(),
          ),
        ).to.equal(text);
      });

      it("refuses a value in json(value) that JSON cannot represent", () => {
        const circular: unknown[] = [];
        circular.push(circular);
        for (const value of [undefined, 1n, Number.NaN, [new Map()], new Date(0), () => "canary", circular])
          expect(() => json(value))
            .to.throw()
            .that.includes({ code: "E_DB_BIND", status: 500 });
      });

      if (!isPostgres)
        it("refuses a plain array and object, and names json(value)", async () => {
          for (const body of [[], { a: 1 }]) {
            const error = await rejectionOf(db.query.insertInto("notes").values({ id: 1, body }).execute());
            expect(error).to.include({ code: "E_DB_BIND" });
            expect(error.message).to.contain("bind 2 of a statement").and.contain("json(value)");
          }
        });

      if (isPostgres) {
        const insert = (body: unknown) => db.query.insertInto("notes").values({ id: 1, body }).execute();

        it("decides the type of a plain array or object, beside a column of an array", async () => {
          const value = fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue()));
          let kept = 0;
          const check = async (body: unknown) => {
            if (JSON.stringify(body).includes("\\u0000")) return;
            const values = { id: 1, body, tags: ["a", "b"] };
            expect(await through(() => db.query.insertInto("notes").values(values).execute())).to.deep.equal(
              JSON.parse(JSON.stringify(body)),
            );
            kept++;
          };
          for (const each of [[], [[]], [1, "2"], {}, 5, true]) await check(each);
          await fc.assert(fc.asyncProperty(value, check), { numRuns: RUNS });
          expect(kept).to.be.greaterThan(RUNS / 2);
          expect((await db.query.selectFrom("notes").select("tags").execute())[0]?.tags).to.deep.equal(["a", "b"]);
        });

        it("takes json(value) inside a plain array or object, and in an array of JSON", async () => {
          const nested = { a: json("5"), b: [json([]), json(null)] };
          expect(await through(() => insert(nested))).to.deep.equal({ a: "5", b: [[], null] });

          await db.run(`create table lists (items ${type}[])`);
          const add = (items: readonly unknown[]) => db.run("insert into lists (items) values ($1)", [items]);
          await add([json("5"), json([]), json(null), null, { a: [] }, 7, true]);
          await db.run(`insert into lists (items) values ($1::${type}[])`, [["[5]", "{}"]]);
          expect(await db.run("select items from lists")).to.deep.equal([
            { items: ["5", [], null, null, { a: [] }, 7, true] },
            { items: [[5], {}] },
          ]);
          expect(await rejectionOf(add([1, "5"]))).to.include({ code: "E_DB_BIND" });
          expect(await rejectionOf(add([1, { a: HALF }]))).to.include({ code: "E_DB_TEXT" });
          await db.run("drop table lists");
        });

        it("is known to a process that has written to the column when it had another type", async () => {
          await db.run("create table changing (value text)");
          const write = (value: unknown) => db.run("insert into changing (value) values ($1)", [value]);
          // From the third execution on the server has a plan.
          for (let time = 0; time < 3; time++) await write("5");
          await db.run(`alter table changing alter column value type ${type} using to_json(value)`);
          expect(await rejectionOf(write("5"))).to.include({ engineCode: "42804" });
          expect(await rejectionOf(write("5"))).to.include({ code: "E_DB_BIND" });
          const writeAgain = (value: unknown) => db.run("insert into changing values ($1)", [value]);
          for (let time = 0; time < 3; time++) await writeAgain(["x"]);

          await db.run("alter table changing alter column value type text using value::text");
          // The connection has a plan for the old type, and another connection replaces it.
          await rejectionOf(writeAgain("x"));
          await writeAgain("x");
          await write("x");
          expect(await db.run("select value from changing")).to.deep.equal(
            ['"5"', '"5"', '"5"', '["x"]', '["x"]', '["x"]', "x", "x"].map((value) => ({ value })),
          );
          await db.run("drop table changing");
        });

        it("refuses a plain text, which may be meant as JSON, before the row is written", async () => {
          for (const run of [insert, (body: unknown) => db.transaction(() => insert(body))])
            for (const body of ["5", "abc", "[]"]) {
              const error = await rejectionOf(run(body));
              expect(error).to.include({ code: "E_DB_BIND", status: 500 });
              expect(error.message)
                .to.contain("bind 2 of a statement")
                .and.contain("json(value)")
                .and.not.contain("abc");
            }
          expect(await db.run("select 1 from notes")).to.deep.equal([]);
          for (const cast of [`$1::${type}`, `cast($1 as ${type})`])
            expect(
              await through(() => db.run(`insert into notes (id, body) values (1, ${cast})`, ["[5]"])),
            ).to.deep.equal([5]);
        });
      }
    });
