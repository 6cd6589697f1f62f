/** `migrate` and `migrate:undo` that a signal stops, at each boundary between statements and inside a long one, on each engine. */
import { expect } from "chai";
import { text } from "node:stream/consumers";
import { ApplicationFolder } from "../../support/application-folder.js";
import { needs } from "../../support/machine.js";
import { MariadbServer } from "../../support/mariadb-server.js";
import { PostgresServer } from "../../support/postgres-server.js";
import { type Child, ended } from "../../support/program.js";
import { until } from "../../support/until.js";

/**
 * Two migrations of two statements, whose boundaries are 0 to 2 and 3 to 5, and those of their `down` 6 to 8 and 9 to 11. With `AT` it waits for a signal at that boundary: the listener of the command has run before. The
 * signal ends a process without a listener.
 */
const APPLICATION = `
  import { Application, provide } from "@stagecraft/framework";
  import { Database } from "@stagecraft/framework/db";
  import { ENGINE as engine } from "@stagecraft/framework/db/ENGINE";
  import { sql } from "kysely";
  class ShopDatabase extends Database {}
  const { ADDRESS, AT, LONG } = process.env;
  async function boundary(number) {
    if (AT !== String(number)) return;
    console.log("waits at " + number);
    const ended = setInterval(() => {}, 1000);
    if ("ENGINE" !== "sqlite") await new Promise((resolve) => process.once("SIGINT", resolve));
    else await new Promise(() => {});
    clearInterval(ended);
  }
  const create = (name, first) => ({
    name,
    async up(db) {
      await boundary(first);
      await db.schema.createTable(name + "_1").addColumn("id", "integer").execute();
      await boundary(first + 1);
      if (LONG !== undefined) console.log("runs");
      if (LONG !== undefined) await sql.raw(LONG).execute(db);
      await db.schema.createTable(name + "_2").addColumn("id", "integer").execute();
      await boundary(first + 2);
    },
    async down(db) {
      await boundary(first + 6);
      await db.schema.dropTable(name + "_2").execute();
      await boundary(first + 7);
      if (LONG !== undefined) console.log("runs");
      if (LONG !== undefined) await sql.raw(LONG).execute(db);
      await db.schema.dropTable(name + "_1").execute();
      await boundary(first + 8);
    },
  });
  const migrations = [create("a", 0), create("b", 3)];
  const open = () => new ShopDatabase(engine(ADDRESS), { migrations });
  export default Application.create().provide(provide(ShopDatabase).useFactory(open));
`;

const BOUNDARIES = [0, 1, 2, 3, 4, 5];
/** In the order in which `migrate:undo 2` passes them. */
const UNDO_BOUNDARIES = [9, 10, 11, 6, 7, 8];
const MIGRATE = ["migrate"];
const UNDO = ["migrate:undo", "2", "--force"];

type Engine = "sqlite" | "postgres" | "mysql";

function createFolder(engine: Engine): ApplicationFolder {
  const folder = new ApplicationFolder({ "app.js": APPLICATION.replaceAll("ENGINE", engine) });
  folder.install("kysely", "@photostructure/sqlite", "pg", "mysql2");
  return folder;
}

interface Run {
  readonly child: Child;
  readonly end: Promise<string>;
  readonly says: (expected: string) => Promise<void>;
}

function start(folder: ApplicationFolder, env: Readonly<Record<string, string>>, command = MIGRATE): Run {
  const child = folder.start(command, env);
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (part: string) => void (errors += part));
  child.stdout.resume();
  // The exit code, or the name of the signal.
  const end = ended(child).then(({ code, signal }) => String(signal ?? code));
  let isEnded = false;
  void end.finally(() => (isEnded = true));
  async function says(expected: string): Promise<void> {
    await until(() => isEnded || errors.includes(expected));
    expect(errors).to.include(expected);
  }
  return { child, end, says };
}

/** The signal at a boundary. Returns how the command ended, and the result of the next run. */
async function interruptAt(folder: ApplicationFolder, address: string, boundary: number) {
  const { child, end, says } = start(folder, { ADDRESS: address, AT: String(boundary) });
  await says(`waits at ${boundary}`);
  child.kill("SIGINT");
  return { how: await end, next: await runAgain(folder, address) };
}

/** The same for `migrate:undo 2`, after a run of `migrate`. */
async function interruptUndoAt(folder: ApplicationFolder, address: string, boundary: number) {
  expect(await runAgain(folder, address)).to.equal(APPLIED_BOTH);
  const { child, end, says } = start(folder, { ADDRESS: address, AT: String(boundary) }, UNDO);
  await says(`waits at ${boundary}`);
  child.kill("SIGINT");
  return { how: await end, next: await runAgain(folder, address, UNDO) };
}

/** A signal that follows the same one within milliseconds does not count, because npm may pass a signal on. So it is repeated. */
async function endBySecond(signal: NodeJS.Signals, { child, end }: Pick<Run, "child" | "end">): Promise<string> {
  let how: string | undefined;
  void end.then((value) => (how = value));
  await until(() => {
    child.kill(signal);
    return how !== undefined;
  });
  return end;
}

/** Fails where a table is left of a migration that is not recorded. Returns what the run has applied or undone. */
async function runAgain(folder: ApplicationFolder, address: string, command = MIGRATE): Promise<string> {
  const child = folder.start(command, { ADDRESS: address });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return stdout + stderr;
}

/** What the next run applies after a migration that was rolled back. A boundary after the first migration leaves it applied. */
function toRest(boundary: number): string {
  return boundary < 3 ? APPLIED_BOTH : "applied b\n";
}

const APPLIED_BOTH = "applied a, b\n";

/** The same for `migrate:undo`. */
function toUndoRest(boundary: number): string {
  return boundary < 9 ? "undid a\n" : "undid b, a\n";
}

describe("migrate and migrate:undo that a signal stops", function () {
  this.timeout(120_000);

  describe("on SQLite", () => {
    it("ends at once, leaves each migration applied or not begun, and goes on with the next run", async () => {
      for (const boundary of BOUNDARIES) {
        using folder = createFolder("sqlite");
        const stopped = await interruptAt(folder, "shop.db", boundary);

        expect(stopped, `at ${boundary}`).to.deep.equal({ how: "SIGINT", next: toRest(boundary) });
      }
    });

    it("ends migrate:undo at once, and leaves each migration applied or undone", async () => {
      for (const boundary of UNDO_BOUNDARIES) {
        using folder = createFolder("sqlite");
        const stopped = await interruptUndoAt(folder, "shop.db", boundary);

        expect(stopped, `at ${boundary}`).to.deep.equal({ how: "SIGINT", next: toUndoRest(boundary) });
      }
    });

    it("ends inside a long statement", async () => {
      using folder = createFolder("sqlite");
      const LONG = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n";
      const { child, end, says } = start(folder, { ADDRESS: "shop.db", LONG });
      await says("runs");
      child.kill("SIGINT");

      expect(await end).to.equal("SIGINT");
      expect(await runAgain(folder, "shop.db")).to.equal(APPLIED_BOTH);
    });
  });

  describe("on PostgreSQL", () => {
    let server: PostgresServer;
    before(needs("postgres"));
    beforeEach(async () => {
      server = await PostgresServer.borrow();
    });
    afterEach(() => server[Symbol.asyncDispose]());

    for (const boundary of BOUNDARIES) {
      it(`rolls the migration back at boundary ${boundary}, and goes on with the next run`, async () => {
        using folder = createFolder("postgres");
        const stopped = await interruptAt(folder, server.url, boundary);

        expect(stopped).to.deep.equal({ how: "1", next: toRest(boundary) });
      });
    }

    it("rolls back the migration that migrate:undo was undoing, and goes on with the next run", async () => {
      for (const boundary of UNDO_BOUNDARIES) {
        using folder = createFolder("postgres");
        const stopped = await interruptUndoAt(folder, server.url, boundary);

        expect(stopped, `at ${boundary}`).to.deep.equal({ how: "1", next: toUndoRest(boundary) });
      }
    });

    it("cancels a long statement of migrate:undo on the server", async () => {
      using folder = createFolder("postgres");
      expect(await runAgain(folder, server.url)).to.equal(APPLIED_BOTH);
      const { child, end, says } = start(folder, { ADDRESS: server.url, LONG: "select pg_sleep(600)" }, UNDO);
      await until(async () => (await server.run(SLEEPING_ON_POSTGRES)).length === 1);
      child.kill("SIGINT");

      await says("the migrations were stopped: none was undone, and the others are still applied");
      expect(await end).to.equal("1");
      expect(await server.run(SLEEPING_ON_POSTGRES)).to.deep.equal([]);
      expect(await runAgain(folder, server.url, UNDO)).to.equal("undid b, a\n");
    });

    it("cancels a long statement on the server", async () => {
      using folder = createFolder("postgres");
      const { child, end, says } = start(folder, { ADDRESS: server.url, LONG: "select pg_sleep(600)" });
      await says("runs");
      await until(async () => (await server.run(SLEEPING_ON_POSTGRES)).length === 1);
      child.kill("SIGINT");

      await says("the migrations were stopped: none was applied");
      expect(await end).to.equal("1");
      expect(await server.run(SLEEPING_ON_POSTGRES)).to.deep.equal([]);
      expect(await runAgain(folder, server.url)).to.equal(APPLIED_BOTH);
    });

    it("ends the wait for the lock, and leaves the migration of the other process alone", async () => {
      using folder = createFolder("postgres");
      const holder = start(folder, { ADDRESS: server.url, AT: "1" });
      await holder.says("waits at 1");
      const waiting = start(folder, { ADDRESS: server.url });
      await until(async () => (await server.run(WAITING_ON_POSTGRES)).length === 1);
      waiting.child.kill("SIGINT");

      expect(await waiting.end).to.equal("1");
      holder.child.kill("SIGKILL");
      await holder.end;
      expect(await runAgain(folder, server.url)).to.equal(APPLIED_BOTH);
    });

    for (const [signal, code] of [
      ["SIGINT", "130"],
      ["SIGTERM", "143"],
    ] as const) {
      it(`ends with ${code} at a second signal, ${signal}, where the server does not respond`, async () => {
        using folder = createFolder("postgres");
        const { child, end, says } = start(folder, { ADDRESS: server.url, LONG: "select pg_sleep(600)" });
        await until(async () => (await server.run(SLEEPING_ON_POSTGRES)).length === 1);
        server.pause();
        child.kill("SIGINT");
        await says("stopping");

        expect(await endBySecond(signal, { child, end })).to.equal(code);
      });
    }
  });

  describe("on MariaDB", () => {
    let server: MariadbServer;
    before(needs("mariadbd"));
    beforeEach(async () => {
      server = await MariadbServer.borrow();
    });
    afterEach(() => server[Symbol.asyncDispose]());

    for (const boundary of BOUNDARIES) {
      it(`runs the migration to its end at boundary ${boundary}, and goes on with the next run`, async () => {
        using folder = createFolder("mysql");
        const stopped = await interruptAt(folder, server.url, boundary);

        expect(stopped).to.deep.equal(
          boundary < 3 ? { how: "1", next: "applied b\n" } : { how: "0", next: "no migration is pending\n" },
        );
      });
    }

    it("undoes the migration to its end, and goes on with the next migrate:undo", async () => {
      for (const boundary of UNDO_BOUNDARIES) {
        using folder = createFolder("mysql");
        const stopped = await interruptUndoAt(folder, server.url, boundary);

        expect(stopped, `at ${boundary}`).to.deep.equal(
          boundary < 9 ? { how: "0", next: "no migration is applied\n" } : { how: "1", next: "undid a\n" },
        );
      }
    });

    it("ends at the second signal inside a long statement, and the next run names the half of the migration", async () => {
      using folder = createFolder("mysql");
      const { child, end, says } = start(folder, { ADDRESS: server.url, LONG: "select sleep(600)" });
      await until(async () => (await server.run(SLEEPING_ON_MARIADB)).length === 1);
      child.kill("SIGINT");
      await says("stopping");

      expect(await endBySecond("SIGINT", { child, end })).to.equal("130");
      const next = start(folder, { ADDRESS: server.url });
      await next.says("the migration a started at");
      expect(await next.end).to.equal("1");
      await server.run("drop table a_1; delete from framework_migrations");
      expect(await runAgain(folder, server.url)).to.equal(APPLIED_BOTH);
    });
  });
});

const SLEEPING_ON_POSTGRES = "select pid from pg_stat_activity where query = 'select pg_sleep(600)'";
const SLEEPING_ON_MARIADB = "select id from information_schema.processlist where info = 'select sleep(600)'";
/** The wait for the lock opens a transaction for each attempt. */
const WAITING_ON_POSTGRES = "select pid from pg_stat_activity where query = 'rollback'";
