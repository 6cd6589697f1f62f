/** The page "backups": its scripts take backups while transactions are written, and restore them. */
import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { Database, type Migration } from "@stagecraft/framework/db";
import { FsStorage } from "@stagecraft/framework/storage/fs";
import { expect } from "chai";
import { postgres } from "../../lib/db/drivers/postgres/postgres-driver.js";
import { sqlite } from "../../lib/db/drivers/sqlite/sqlite-driver.js";
import { guideFile, replacedIn } from "../support/guide-files.js";
import { locate, needs } from "../support/machine.js";
import { newFolder } from "../support/new-folder.js";
import { rejectionOf } from "../support/rejection-of.js";
import { POSTGRES_PASSWORD, PostgresServer } from "../support/postgres-server.js";

const PAGE = "backups.md";
const run = promisify(execFile);

class ShopDatabase extends Database<{ notes: { id: number; body: string } }> {}

const NOTES: Migration = {
  name: "notes",
  up: (db) => db.schema.createTable("notes").addColumn("id", "integer").addColumn("body", "text").execute(),
};

function openDatabase(driver: ConstructorParameters<typeof ShopDatabase>[0]): ShopDatabase {
  return new ShopDatabase(driver, { migrations: [NOTES], migrate: true });
}

/** The output of a script of the page, without its line end. */
async function runScript(folder: string, name: string, ...given: readonly string[]): Promise<string> {
  const script = join(folder, name);
  writeFileSync(script, guideFile(PAGE, name));
  const PATH = [dirname(locate("postgres") ?? ""), process.env["PATH"]].join(":");
  const env = { ...process.env, PATH, PGSERVICEFILE: join(folder, "pg_service.conf") };
  const { stdout } = await run("sh", [script, ...given], { env, cwd: folder });
  return stdout.trimEnd();
}

async function countNotes(db: ShopDatabase): Promise<number> {
  const rows = await db.query.selectFrom("notes").select("id").execute();
  return rows.length;
}

/** Transactions of two rows each, until the work is over. @returns what the work gives, and the rows before and after it */
async function writtenDuring<T>(db: ShopDatabase, work: () => Promise<T>) {
  const body = "x".repeat(1000);
  const writePair = (id: number) =>
    db.transaction(async () => {
      await db.query.insertInto("notes").values({ id, body }).execute();
      await db.query.insertInto("notes").values({ id, body }).execute();
    });
  for (let id = 0; id < 500; id += 1) await writePair(id);
  const before = await countNotes(db);
  const over = new AbortController();
  const result = work().finally(() => over.abort());
  for (let id = 500; !over.signal.aborted; id += 1) {
    await writePair(id);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { result: await result, before, after: await countNotes(db) };
}

/** The rows of a backup: all of the transactions before it, whole transactions, and fewer than at its end. */
function expectOneMoment(rows: number, { before, after }: { readonly before: number; readonly after: number }): void {
  expect(rows % 2).to.equal(0);
  expect(rows).to.be.within(before, after);
  expect(after).to.be.greaterThan(before);
}

describe("the backup of SQLite", function () {
  this.timeout(60_000);
  this.slow(10_000);
  before(needs("sqlite3"));

  it("is taken under writes, and restored with all that was committed before it", async () => {
    using folder = newFolder();
    const file = join(folder.path, "app.db");
    const db = openDatabase(sqlite(file));
    await db.start();
    const taken = await writtenDuring(db, () => runScript(folder.path, "backup-sqlite.sh", file, folder.path));
    await db.stop();
    await runScript(folder.path, "restore-sqlite.sh", taken.result, file);
    const restored = openDatabase(sqlite(file));
    await restored.start();
    const rows = await countNotes(restored);
    await restored.query.insertInto("notes").values({ id: 1, body: "" }).execute();
    await restored.stop();

    expectOneMoment(rows, taken);
  });

  const WRONG = { damaged: "no database".repeat(1000), empty: "" };

  for (const [kind, content] of Object.entries(WRONG))
    it(`replaces nothing by a file that is ${kind}`, async () => {
      using folder = newFolder();
      const [file, wrong] = [join(folder.path, "app.db"), join(folder.path, "wrong.db")];
      const db = openDatabase(sqlite(file));
      await db.start();
      await db.query.insertInto("notes").values({ id: 7, body: "" }).execute();
      writeFileSync(wrong, content);
      const error = await rejectionOf(runScript(folder.path, "restore-sqlite.sh", wrong, file));

      expect(error).to.be.instanceOf(Error);
      expect(await countNotes(db)).to.equal(1);
      await db.stop();
    });

  it("is not taken of a file that does not exist", async () => {
    using folder = newFolder();
    const mistyped = join(folder.path, "ap.db");
    const error = await rejectionOf(runScript(folder.path, "backup-sqlite.sh", mistyped, folder.path));

    expect(error).to.include({ stderr: `there is no file ${mistyped}\n` });
    expect(readdirSync(folder.path)).to.deep.equal(["backup-sqlite.sh"]);
  });

  it("is not a copy of the file, which lacks what the WAL has", async () => {
    using folder = newFolder();
    const [file, copy] = [join(folder.path, "app.db"), join(folder.path, "copy.db")];
    const db = openDatabase(sqlite(file));
    await db.start();
    await db.query.insertInto("notes").values({ id: 7, body: "" }).execute();
    copyFileSync(file, copy);
    const copied = await run("sqlite3", [copy, "select count(*) from notes"]).then(
      ({ stdout }) => stdout,
      (error: unknown) => String(error),
    );
    await db.stop();

    expect(copied).to.match(/^0\n$|no such table/);
  });
});

describe("the backup of PostgreSQL", function () {
  this.timeout(60_000);
  this.slow(15_000);
  before(needs("postgres"));

  it("is taken under writes, and restored into an empty database", async () => {
    using folder = newFolder();
    await using server = await PostgresServer.borrow();
    await using empty = await PostgresServer.start();
    const service = replacedIn(guideFile(PAGE, "pg_service.conf"), {
      "port=5432\ndbname=shop\n": `port=${server.port}\ndbname=shop\n`,
      "port=5432\ndbname=shop_restored": `port=${empty.port}\ndbname=shop`,
      "user=shop": "user=owner",
      PASSWORD: POSTGRES_PASSWORD,
    });
    writeFileSync(join(folder.path, "pg_service.conf"), service, { mode: 0o600 });
    const db = openDatabase(postgres(server.url));
    await db.start();
    const taken = await writtenDuring(db, () => runScript(folder.path, "backup-postgres.sh", "shop", folder.path));
    await db.stop();
    await runScript(folder.path, "restore-postgres.sh", taken.result, "shop-restored");
    const restored = openDatabase(postgres(empty.url));
    await restored.start();
    const rows = await countNotes(restored);
    await restored.stop();

    expectOneMoment(rows, taken);
  });
});

describe("the backup of a storage", () => {
  it("keeps the contents with their types and metadata", async () => {
    using folder = newFolder();
    const [root, other] = [join(folder.path, "files"), join(folder.path, "restored")];
    mkdirSync(other);
    const files = new FsStorage({ root });
    await files.start();
    await files.put("scans/7", "a scan", { type: "text/plain", metadata: { by: "ada" } });
    const archive = await runScript(folder.path, "backup-files.sh", root, folder.path);
    await run("tar", ["--extract", `--file=${archive}`, `--directory=${other}`]);
    const restored = new FsStorage({ root: other });
    await restored.start();

    expect(await restored.stat("scans/7")).to.deep.include({ type: "text/plain", metadata: { by: "ada" }, size: 6 });
  });
});
