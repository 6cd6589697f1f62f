import { expect } from "chai";
import { readdirSync } from "node:fs";
import { ApplicationFolder } from "../../support/application-folder.js";

const APPLICATION = `
  import { Application, provide } from "@stagecraft/framework";
  import { Database } from "@stagecraft/framework/db";
  import { sqlite } from "@stagecraft/framework/db/sqlite";
  import * as steps from "./steps.js";
  class ShopDatabase extends Database {}
  const migrations = Object.entries(steps).map(([name, step]) => ({ name, ...step }));
  const open = () => new ShopDatabase(sqlite("shop.db"), { migrations });
  export default Application.create().provide(provide(ShopDatabase).useFactory(open));
`;

const STEPS = `
  const create = (name) => ({
    up: (db) => db.schema.createTable(name).addColumn("id", "integer").execute(),
    down: (db) => db.schema.dropTable(name).execute(),
  });
  export const articles = { ...create("articles"), checksum: "1" };
  export const orders = create("orders");
`;

function createFolder(steps = STEPS): ApplicationFolder {
  const folder = new ApplicationFolder({ "app.js": APPLICATION, "steps.js": steps });
  folder.install("kysely", "@photostructure/sqlite");
  return folder;
}

describe("migrate", () => {
  it("applies the pending migrations, and then finds none", async () => {
    using folder = createFolder();

    const first = await folder.run("migrate");
    const second = await folder.run("migrate");

    expect(first).to.include({ code: 0, stdout: "applied articles, orders\n" });
    expect(second).to.include({ code: 0, stdout: "no migration is pending\n" });
  });

  it("applies up to a name, shows the state of each, and undoes the last with --force alone", async () => {
    using folder = createFolder();

    const upTo = await folder.run("migrate", "--to", "articles", "--json");
    const status = await folder.run("migrate:status", "--json");
    const refused = await folder.run("migrate:undo");
    const undone = await folder.run("migrate:undo", "--force");
    const after = await folder.run("migrate:status");

    expect(JSON.parse(upTo.stdout)).to.deep.equal(["articles"]);
    expect(JSON.parse(status.stdout)).to.deep.equal([
      { name: "articles", state: "done" },
      { name: "orders", state: "pending" },
    ]);
    expect(refused.code).to.equal(2);
    expect(refused.stderr).to.include("stagecraft migrate:undo 1 --force");
    expect(undone).to.include({ code: 0, stdout: "undid articles\n" });
    expect(after.stdout).to.match(/articles +pending\norders +pending\n$/);
  });

  it("creates no file of SQLite to show what is pending", async () => {
    using folder = createFolder();

    const status = await folder.run("migrate:status");
    const shown = await folder.run("migrate:show", "orders", "--json");

    expect(status.stdout).to.match(/articles +pending\norders +pending\n$/);
    expect(JSON.parse(shown.stdout)).to.include({ name: "orders", state: "pending" });
    expect(readdirSync(folder.path).filter((name) => name.startsWith("shop.db"))).to.deep.equal([]);
  });

  it("refuses an edited migration, shows what was executed, and accepts the edit for a reason", async () => {
    using folder = createFolder();
    await folder.run("migrate");
    folder.write("steps.js", STEPS.replace('checksum: "1"', 'checksum: "2"'));

    const refused = await folder.run("migrate");
    const shown = await folder.run("migrate:show", "articles", "--json");
    const withoutReason = await folder.run("migrate:accept", "articles");
    const accepted = await folder.run("migrate:accept", "articles", "--reason", "a comment");
    const status = await folder.run("migrate:status", "--json");

    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.include("articles").and.not.include("    at ");
    expect(JSON.parse(shown.stdout)).to.include({ name: "articles", state: "edited" });
    expect(shown.stdout).to.include("create table");
    expect(withoutReason.code).to.equal(2);
    expect(accepted.code).to.equal(0);
    expect(JSON.parse(status.stdout)).to.deep.include({ name: "articles", state: "done" });
  });

  it("says what is missing where there is no database, or another one", async () => {
    using without = new ApplicationFolder();
    using folder = createFolder();

    const none = await without.run("migrate");
    const other = await folder.run("migrate", "--database", "Other");
    const count = await folder.run("migrate:undo", "0", "--force");

    expect(none.code).to.equal(1);
    expect(none.stderr).to.include("the application has no database");
    expect(other.code).to.equal(2);
    expect(other.stderr).to.include("--database ShopDatabase");
    expect(count.code).to.equal(2);
  });

  it("says so where the database is away", async () => {
    using folder = createFolder();
    folder.write("app.js", APPLICATION.replace("shop.db", "/dev/null/shop.db"));

    const { code, stderr } = await folder.run("migrate");

    expect(code).to.equal(1);
    expect(stderr)
      .to.match(/database|dev\/null/)
      .and.not.include("    at ");
  });
});

describe("key:generate", () => {
  it("prints another key of 64 bytes each time, and needs no application", async () => {
    using folder = new ApplicationFolder({});

    const [first, second] = [await folder.run("key:generate"), await folder.run("key:generate")];

    expect(first.stdout).to.match(/^[0-9a-f]{128}\n$/);
    expect(second.stdout).to.match(/^[0-9a-f]{128}\n$/);
    expect(first.stdout).to.not.equal(second.stdout);
  });
});
