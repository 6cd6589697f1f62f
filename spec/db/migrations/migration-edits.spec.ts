/** The records of migrations on each engine: checksums, accepted edits and executed statements; and migrations that are merged late, or applied in part. */
import { Database, type DatabaseDriver, type Migration, readMigrations, sql } from "@stagecraft/framework/db";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { expect } from "chai";
import { mkdir, writeFile } from "node:fs/promises";
import { mysql } from "../../../lib/db/drivers/mysql/mysql-driver.js";
import { postgres } from "../../../lib/db/drivers/postgres/postgres-driver.js";
import { eventsOf } from "../../support/events-of.js";
import { needs } from "../../support/machine.js";
import { MariadbServer } from "../../support/mariadb-server.js";
import { PostgresServer } from "../../support/postgres-server.js";
import { rejectionOf } from "../../support/rejection-of.js";
import { type CompiledMigrations, compiledMigrations } from "./compiled-migrations.js";
import { temporaryFolder } from "../shop-database.js";

class NoteDatabase extends Database<Record<string, Record<string, unknown>>> implements AsyncDisposable {
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

const LINKS = `-- The links; one comment.
create table links (id integer primary key, slug varchar(40) not null default 'a;b');

/* Two ; statements */
insert into links (id, slug) values (1, 'new york');
`;

const table = (name: string, more: Partial<Migration> = {}): Migration => ({
  name,
  up: (db) => db.schema.createTable(name).addColumn("id", "integer").execute(),
  down: (db) => db.schema.dropTable(name).execute(),
  ...more,
});

const withValue: Migration["up"] = async (db) => {
  await db.schema.createTable("links").addColumn("slug", "varchar(40)").execute();
  await db.insertInto("links").values({ slug: "canary" }).execute();
  await sql`/* ☃ */ delete from links where slug = 'nothing'`.execute(db);
};

interface Engine {
  readonly name: string;
  readonly program: "postgres" | "mariadbd" | undefined;
  readonly start: () => Promise<AsyncDisposable & { readonly driver: () => DatabaseDriver }>;
}

const ENGINES: readonly Engine[] = [
  {
    name: "SQLite",
    program: undefined,
    start: async () => {
      const folder = await temporaryFolder();
      return { driver: () => sqlite(folder.file("notes.db")), [Symbol.asyncDispose]: folder[Symbol.asyncDispose] };
    },
  },
  {
    name: "PostgreSQL",
    program: "postgres",
    start: async () => {
      const server = await PostgresServer.borrow();
      return { driver: () => postgres(server.url), [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
    },
  },
  {
    name: "MariaDB",
    program: "mariadbd",
    start: async () => {
      const server = await MariadbServer.borrow();
      return { driver: () => mysql(server.url), [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
    },
  },
];

describe("the migrations of", function () {
  this.timeout(60_000);
  let compiled: CompiledMigrations;

  before(async () => {
    compiled = await compiledMigrations();
  });
  after(() => compiled[Symbol.asyncDispose]());

  for (const { name, program, start } of ENGINES) {
    describe(name, () => {
      let engine: Awaited<ReturnType<Engine["start"]>>;

      if (program !== undefined) before(needs(program));
      before(async () => {
        engine = await start();
      });
      after(() => engine[Symbol.asyncDispose]());
      beforeEach(async () => {
        await using db = new NoteDatabase(engine.driver());
        await db.start();
        for (const each of ["framework_migrations", "links", "old", "late", "newest"])
          await db.run(`drop table if exists ${each}`);
      });

      const shop = (migrations: ConstructorParameters<typeof NoteDatabase>[1] & object) =>
        new NoteDatabase(engine.driver(), { migrate: true, ...migrations });

      const started = async (...migrations: readonly Migration[]) => {
        const db = shop({ migrations });
        await db.start();
        return db;
      };

      it("are files of SQL too, with a checksum of their text and a file for down", async () => {
        await using folder = await temporaryFolder();
        await mkdir(folder.file("steps"));
        await writeFile(folder.file("steps/001-links.sql"), LINKS);
        const migrations = [readMigrations(folder.file("steps"))];
        await (await startedFrom(shop({ migrations }))).stop();

        // Another line end is no edit, and a file for down that comes later is none.
        await writeFile(folder.file("steps/001-links.sql"), LINKS.replaceAll("\n", "\r\n"));
        await writeFile(folder.file("steps/001-links.down.sql"), "drop table links;");
        await using db = await startedFrom(shop({ migrations }));
        expect(await db.run("select slug from links")).to.deep.equal([{ slug: "new york" }]);
        expect(await db.migrations.rollback()).to.deep.equal(["001-links"]);
        expect(await db.migrations.run()).to.deep.equal(["001-links"]);

        await writeFile(folder.file("steps/001-links.sql"), LINKS.replace("new york", "newyork"));
        const error = await rejectionOf(startedFrom(shop({ migrations })));
        expect(error).to.include({ code: "E_DB_MIGRATION_EDITED" });
        expect(error.message).to.contain('db.migrations.accept("001-links", "the reason")');
      });

      it("show what was executed beside what an edited one would execute now", async () => {
        await (await started({ name: "links", checksum: "1", up: withValue })).stop();
        const more: Migration["up"] = async (db) => {
          await withValue(db);
          await sql`create index slugs on links (slug)`.execute(db);
        };

        await using db = shop({ migrations: [{ name: "links", checksum: "2", up: more }] });
        const { statements, state, durationMs, by } = await db.migrations.show("links");
        const now = await db.migrations.preview("links");

        expect(state).to.equal("edited");
        expect(durationMs).to.be.at.least(0);
        expect(by).to.match(/^process \d+ on /);
        expect(statements).to.have.length(3);
        expect(statements[2]).to.contain("☃");
        expect(JSON.stringify(statements)).not.to.contain("canary");
        expect(now).to.deep.equal([...statements, "create index slugs on links (slug)"]);
        expect(await db.run("select count(*) as n from links").then(([row]) => Number(row?.["n"]))).to.equal(1);
      });

      it("have an accepted edit, with the process that accepted it and the reason", async () => {
        await (await started(table("links", { checksum: "1" }))).stop();
        const edited = table("links", { checksum: "2" });
        expect(await rejectionOf(started(edited))).to.include({ code: "E_DB_MIGRATION_EDITED" });

        await using script = shop({ migrations: [edited] });
        for (const reason of ["a comment; “quoted”", "\n  on a line of its own\0", "half \uD83D", "☃".repeat(500)])
          await script.migrations.accept("links", reason);

        await using db = await started(edited);
        const { accepted, state } = await db.migrations.show("links");
        expect(state).to.equal("done");
        expect(accepted).to.have.length(4);
        expect(accepted[1]).to.include({ reason: "\n  on a line of its own\0" });
        expect(accepted[2]).to.include({ reason: "half \uD83D" });
        expect(accepted[0]).to.include({ reason: "a comment; “quoted”" });
        expect(accepted[0]?.by).to.match(/^process \d+ on /);
        for (const reason of ["", " \n\t", "x".repeat(501), 7 as never])
          expect(await rejectionOf(db.migrations.accept("links", reason))).to.include({
            code: "E_DB_MIGRATION_REASON",
          });
        expect(await rejectionOf(db.migrations.accept("nothing", "why"))).to.include({ code: "E_DB_MIGRATION_NAME" });
      });

      it("are not edited by another text of their function, a new down or a first checksum", async () => {
        await (await started({ name: "links", up: table("links").up })).stop();
        const rewritten: Migration = {
          name: "links",
          checksum: "1",
          up: (db) => sql`create table links (other text)`.execute(db),
          down: async () => {},
        };

        await using db = await started(rewritten);

        expect(await db.migrations.status()).to.deep.equal([{ name: "links", state: "done" }]);
      });

      it("are not edited by another compiler", async () => {
        for (const folder of [compiled.byTsc, compiled.byOxc, compiled.minified]) {
          await using db = await startedFrom(shop({ migrations: [readMigrations(folder)] }));
          expect(await db.migrations.status()).to.deep.equal([{ name: "001-links", state: "done" }]);
          expect(await db.run("select slug from links")).to.deep.equal([{ slug: "10000 new york" }]);
        }
      });

      it("of an older version of the framework stay done, or half-done", async () => {
        await using old = new NoteDatabase(engine.driver());
        await old.start();
        await old.run(
          "create table framework_migrations (name varchar(200) primary key, checksum varchar(64) not null, state varchar(10) not null, " +
            "position integer not null, applied_at varchar(30) not null)",
        );
        const insert = (row: string) => old.run(`insert into framework_migrations values ${row}`);
        await insert("('old', '0123456789abcdef0123456789abcdef', 'done', 1, '2026-01-02T03:04:05.000Z')");

        await using db = await started(table("old", { checksum: "1" }), table("late"));
        expect(await db.migrations.status()).to.deep.equal([
          { name: "old", state: "done" },
          { name: "late", state: "done" },
        ]);
        expect(await db.migrations.show("old")).to.deep.include({
          at: "2026-01-02T03:04:05.000Z",
          by: "",
          statements: [],
        });

        await old.run("update framework_migrations set state = 'started' where name = 'old'");
        expect(await rejectionOf(started(table("old")))).to.include({ code: "E_DB_MIGRATION_HALF" });
      });

      it("of a branch that is merged later run, and a WARN event names them", async () => {
        await (await started(table("old"), table("newest"))).stop();

        const events = await eventsOf(async () => (await started(table("old"), table("late"), table("newest"))).stop());

        expect(events.filter((event) => event.includes("migration comes late"))).to.have.length(1);
        expect(events.find((event) => event.includes("migration comes late"))).to.match(
          /WARN .*migration=late applied=newest/,
        );
        await using db = await started(table("old"), table("late"), table("newest"));
        expect(await db.migrations.rollback()).to.deep.equal(["late"]);
      });

      it("are applied up to a name, and rolled back to one", async () => {
        await using db = shop({ migrations: [table("old"), table("late"), table("newest")] });

        expect(await db.migrations.run({ to: "late" })).to.deep.equal(["old", "late"]);
        expect(await db.migrations.run({ to: "old" })).to.deep.equal([]);
        expect(await db.migrations.run()).to.deep.equal(["newest"]);
        expect(await db.migrations.rollback({ to: "old" })).to.deep.equal(["newest", "late"]);
        expect(await db.migrations.rollback({ to: "old" })).to.deep.equal([]);
        for (const call of [db.migrations.run({ to: "nothing" }), db.migrations.rollback({ to: "late" })])
          expect(await rejectionOf(call)).to.include({ code: "E_DB_MIGRATION_NAME" });
      });
    });
  }
});

async function startedFrom(db: NoteDatabase): Promise<NoteDatabase> {
  await db.start();
  return db;
}
