/** The lock of the migrations of one file: several processes take it one after the other, and a killed process releases it. */
import type { Migration } from "@stagecraft/framework/db";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { Metrics } from "@stagecraft/framework/observe";
import { FakeClock } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { chmod, chown, stat, symlink } from "node:fs/promises";
import { hostname } from "node:os";
import { ShopDatabase, temporaryFolder } from "../../shop-database.js";
import { Child } from "../../../support/child.js";
import { rejectionOf } from "../../../support/rejection-of.js";
import { until } from "../../../support/until.js";
import { withoutPrivileges } from "../../../support/without-privileges.js";

const PROGRAM = "../db/drivers/sqlite/migrating-program.js";
const OTHER_USER = 65_534;

const table = (name: string, transaction = true): Migration => ({
  name: `create-${name}`,
  transaction,
  up: (db) => db.schema.createTable(name).addColumn("id", "integer").execute(),
});

async function migrated(file: string, migrations: readonly Migration[]): Promise<ShopDatabase> {
  const db = new ShopDatabase(sqlite(file), { migrations, migrate: true });
  await db.start();
  return db;
}

/** A process in the middle of its migration. */
async function migrating(file: string): Promise<Child> {
  const child = await Child.start(PROGRAM, { FILE: file, GATE: "closed" });
  await child.says("half");
  return child;
}

/** A wait of this process for the lock, with a fake clock. */
async function waitingFor(file: string) {
  const [driver, clock] = [sqlite(file), new FakeClock()];
  driver.prepare({ name: "database", clock, metrics: new Metrics() });
  const waiting = driver.lockMigrations(60_000);
  expect(await Promise.race([waiting, until(() => clock.pending > 0)]), "a lock at once").to.equal(undefined);
  return { driver, clock, waiting };
}

describe("the lock of the migrations of a file of SQLite", function () {
  // Each process starts slowly on a busy machine.
  this.timeout(60_000);
  this.slow(5000);

  it("lets one of several processes apply a migration that has no transaction", async () => {
    await using folder = await temporaryFolder();
    const environment = { FILE: folder.file("shop.db") };
    const children = await Promise.all([1, 2, 3].map(() => Child.start(PROGRAM, environment)));
    const codes = await Promise.all(children.map((child) => child.exitCode()));

    expect(codes, children.map(({ errors }) => errors).join("\n")).to.deep.equal([0, 0, 0]);
    expect(children.filter(({ output }) => output.includes("half"))).to.have.length(1);
  });

  it("is free when the process that holds it has migrated", async () => {
    await using folder = await temporaryFolder();
    const file = folder.file("shop.db");
    await using child = await migrating(file);
    const { clock, waiting } = await waitingFor(file);
    child.endInput();
    expect(await child.exitCode(), child.errors).to.equal(0);
    await clock.advanceAsync(1000);

    await (await waiting).release();
    expect(clock.pending).to.equal(0);
  });

  it("ends with a killed process, whose migration is half applied", async () => {
    await using folder = await temporaryFolder();
    const file = folder.file("shop.db");
    await using child = await migrating(file);
    const { clock, waiting } = await waitingFor(file);
    child.kill("SIGKILL");
    await child.exitCode();
    await clock.advanceAsync(1000);
    await (await waiting).release();

    const start = migrated(file, [{ ...table("first", false), name: "slow" }]);
    expect(await rejectionOf(start)).to.include({ code: "E_DB_MIGRATION_HALF" });
  });

  it("fails after the given wait, and the error names its holder and its start", async () => {
    await using folder = await temporaryFolder();
    const file = folder.file("shop.db");
    await using child = await migrating(file);
    const { driver, clock, waiting } = await waitingFor(file);
    const rejection = rejectionOf(waiting);
    await clock.advanceAsync(59_999);
    expect(clock.pending).to.equal(1);
    await clock.advanceAsync(1);

    const { kind, text } = driver.failure(await rejection);
    expect(kind).to.equal("busy");
    expect(text).to.match(
      new RegExp(`^the lock .* held by process ${String(child.pid)} on ${hostname()} since 20.*Z$`),
    );
    expect(clock.pending).to.equal(0);
  });

  it("is one for all paths of the file", async () => {
    await using folder = await temporaryFolder();
    const file = folder.file("shop.db");
    await (await migrated(file, [])).stop();
    await symlink(file, folder.file("link.db"));
    const [driver, other] = [sqlite(file), sqlite(folder.file("link.db"))];
    const lock = await driver.lockMigrations(10);

    expect(other.failure(await rejectionOf(other.lockMigrations(10)))).to.include({ code: "MIGRATION_LOCK" });
    await lock.release();
    await (await other.lockMigrations(10)).release();
  });

  it("does not exist for a database in memory", async () => {
    const [driver, other] = [sqlite(":memory:"), sqlite(":memory:")];
    const lock = await driver.lockMigrations(10);
    await (await other.lockMigrations(10)).release();
    await lock.release();

    expect(await rejectionOf(stat(":memory:-migrations"))).to.include({ code: "ENOENT" });
  });

  it("does not fail a process that may only read the file, where all migrations are done", async () => {
    await using folder = await temporaryFolder();
    const file = folder.file("shop.db");
    await (await migrated(file, [table("articles")])).stop();
    await chmod(folder.file("."), 0o777);
    await chmod(file, 0o444);
    await chmod(`${file}-migrations`, 0o444);

    await withoutPrivileges(async () => {
      await using db = await migrated(file, [table("articles")]);
      expect(await db.migrations.status()).to.deep.equal([{ name: "create-articles", state: "done" }]);
      const more = () => migrated(file, [table("articles"), table("orders")]);
      expect(await rejectionOf(more())).to.include({ code: "E_DB_READ_ONLY" });
    });
  });

  if (process.geteuid?.() === 0)
    it("belongs to the user of the file after a start as root, who may migrate next", async () => {
      await using folder = await temporaryFolder();
      const file = folder.file("shop.db");
      await (await migrated(file, [])).stop();
      await chmod(folder.file("."), 0o777);
      await chmod(file, 0o660);
      await chown(file, OTHER_USER, OTHER_USER);
      await (await migrated(file, [table("articles")])).stop();

      const { uid, mode } = await stat(`${file}-migrations`);
      expect([uid, mode & 0o777]).to.deep.equal([OTHER_USER, 0o660]);
      await withoutPrivileges(async () => {
        await using db = await migrated(file, [table("articles"), table("orders")]);
        expect(await db.migrations.status()).to.have.length(2);
      });
    });
});
