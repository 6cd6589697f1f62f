/** A file of SQLite with a second process that writes and is killed, on a disk that is full, and without the right to write. */
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { expect } from "chai";
import { chmod, copyFile, mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { ShopDatabase, shopDatabase, temporaryFolder } from "../../shop-database.js";
import { Child } from "../../../support/child.js";
import { rejectionOf } from "../../../support/rejection-of.js";
import { canMount, SmallDisk } from "../../../support/small-disk.js";
import { withoutPrivileges } from "../../../support/without-privileges.js";

const COUNT = 50;
const names = (whose: string) => Array.from({ length: COUNT }, (_, number) => `${whose} ${number}`);

async function opened(file: string): Promise<ShopDatabase> {
  const db = new ShopDatabase(sqlite(file, { waitMs: 60_000 }));
  await db.start();
  return db;
}

async function addAll(db: ShopDatabase, all: readonly string[]): Promise<void> {
  for (const name of all) await db.transaction(() => db.add(name), { retries: 5 });
}

/** Kills the child in its open transaction. */
async function killed(child: Child): Promise<void> {
  await child.says("half");
  child.kill("SIGKILL");
  await child.exitCode();
}

describe("a file of SQLite that two processes write", function () {
  this.timeout(120_000);
  it("keeps each committed row, and after a kill nothing of the open transaction", async () => {
    await using folder = await temporaryFolder();
    const file = folder.file("shop.db");
    {
      await using db = await shopDatabase(sqlite(file, { waitMs: 60_000 }));
      await using child = await Child.start("../db/drivers/sqlite/killed-writer-program.js", { FILE: file });
      await child.says("started");
      // The child has the lock until it is killed, and our last rows may wait for that.
      await Promise.all([addAll(db, names("ours")), killed(child)]);
      await db.add("after the kill");
    }

    await using db = await opened(file);

    expect(await db.names()).to.have.members([...names("ours"), ...names("theirs"), "after the kill"]);
    expect(await db.run("pragma integrity_check")).to.deep.equal([{ integrity_check: "ok" }]);
  });

  it("has all rows with the log that the killed process has left", async () => {
    await using folder = await temporaryFolder();
    const file = folder.file("shop.db");
    await (await shopDatabase(sqlite(file))).stop();
    await using child = await Child.start("../db/drivers/sqlite/killed-writer-program.js", { FILE: file });
    await killed(child);
    expect((await stat(`${file}-wal`)).size).to.be.above(0);

    await using db = await opened(file);

    expect(await db.names()).to.deep.equal(names("theirs"));
    await db.transaction(() => db.add("tea"));
  });

  it("holds all rows after the stop, without the log beside it", async () => {
    await using folder = await temporaryFolder();
    const db = await shopDatabase(sqlite(folder.file("shop.db")));
    await db.add("tea");
    await db.names();
    await db.stop();
    await copyFile(folder.file("shop.db"), folder.file("copy.db"));

    await using copy = await opened(folder.file("copy.db"));

    expect(await copy.names()).to.deep.equal(["tea"]);
  });
});

describe("a file of SQLite that cannot be written", function () {
  this.timeout(60_000);
  it("is read, and each write is a 503", async () => {
    await using folder = await temporaryFolder();
    const file = folder.file("data/shop.db");
    await mkdir(dirname(file));
    await (await shopDatabase(sqlite(file))).stop();
    await chmod(folder.file("."), 0o755);
    await chmod(dirname(file), 0o777);
    await chmod(file, 0o444);

    await withoutPrivileges(async () => {
      await using db = await opened(file);
      expect(await db.names()).to.deep.equal([]);
      for (const write of [() => db.add("tea"), () => db.transaction(() => db.add("tea"))])
        expect(await rejectionOf(write())).to.include({ code: "E_DB_READ_ONLY", status: 503 });
      expect(await db.names()).to.deep.equal([]);
    });
  });

  if (canMount())
    it("because the disk is full, refuses writes with 507, and is read", async () => {
      using disk = new SmallDisk(512);
      await using db = await shopDatabase(sqlite(`${disk.folderOf("root")}/shop.db`));
      await db.add("tea");
      const fill = async (text: string) => {
        for (let number = 0; number < 200; number++) await db.add(`${number} ${text.repeat(10_000)}`);
      };

      for (const write of [() => fill("x"), () => db.transaction(() => fill("y"))])
        expect(await rejectionOf(write())).to.include({ code: "E_DB_FULL", status: 507 });

      expect((await db.names())[0]).to.equal("tea");
      expect(await db.run("pragma integrity_check")).to.deep.equal([{ integrity_check: "ok" }]);
    });
});
