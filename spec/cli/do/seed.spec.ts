import { expect } from "chai";
import { ApplicationFolder, runBin } from "../../support/application-folder.js";
import { needs } from "../../support/machine.js";
import { MariadbServer } from "../../support/mariadb-server.js";
import { PostgresServer } from "../../support/postgres-server.js";

const APPLICATION = `
  import { Application, provide } from "@stagecraft/framework";
  import { Database } from "@stagecraft/framework/db";
  import { migrations, seeds } from "./steps.js";
  const url = process.env.DATABASE_URL ?? "";
  const engine = url === "" ? "sqlite" : url.split(":")[0];
  const driver = (await import("@stagecraft/framework/db/" + engine))[engine];
  class ShopDatabase extends Database {}
  const open = () => new ShopDatabase(driver(url || "shop.db"), { migrations, seeds });
  export default Application.create().provide(provide(ShopDatabase).useFactory(open));
`;

const STEPS = `
  const create = (name) => ({
    name,
    up: (db) => db.schema.createTable(name).addColumn("id", "integer", (id) => id.primaryKey()).execute(),
  });
  export const migrations = [create("articles"), create("orders")];
  async function addArticles(db) {
    for (const { count } of await db.run("select count(*) as count from articles"))
      await db.run("insert into articles (id) values (" + (Number(count) + 1) + ")");
  }
  async function countArticles(db) {
    for (const { count } of await db.run("select count(*) as count from articles")) console.error("articles: " + count);
  }
  export const seeds = [addArticles, countArticles];
`;

type Server = AsyncDisposable & { readonly url: string };

interface Engine {
  readonly name: string;
  readonly start: () => Promise<Server>;
  readonly program?: "postgres" | "mariadbd";
}

const ENGINES: readonly Engine[] = [
  { name: "SQLite", start: async () => ({ url: "", [Symbol.asyncDispose]: async () => {} }) },
  { name: "PostgreSQL", program: "postgres", start: () => PostgresServer.borrow() },
  { name: "MariaDB", program: "mariadbd", start: () => MariadbServer.borrow() },
];

function createFolder(steps = STEPS): ApplicationFolder {
  const folder = new ApplicationFolder({ "app.js": APPLICATION, "steps.js": steps });
  folder.install("kysely", "@photostructure/sqlite", "pg", "mysql2");
  return folder;
}

describe("db:seed and db:fresh", () => {
  for (const { name, start, program } of ENGINES) {
    describe(`on ${name}`, () => {
      let server: Server;
      if (program !== undefined) before(needs(program));
      before(async () => {
        server = await start();
      });
      after(() => server[Symbol.asyncDispose]());

      it("seed a migrated database, again and from its beginning", async () => {
        using folder = createFolder();
        const run = (...args: readonly string[]) =>
          runBin(args, { cwd: folder.path, env: server.url === "" ? {} : { DATABASE_URL: server.url } });

        const early = await run("db:seed");
        await run("migrate");
        const first = await run("db:seed");
        const second = await run("db:seed", "--json");
        const refused = await run("db:fresh", "--seed");
        const fresh = await run("db:fresh", "--force", "--seed");
        const withoutSeeds = await run("db:fresh", "--force", "--json");

        expect(early.code).to.equal(1);
        expect(early.stderr).to.include("lacks 2 migrations: articles, orders");
        expect(first).to.include({ code: 0, stdout: "seeded addArticles, countArticles\n", stderr: "articles: 1\n" });
        expect(second).to.include({ code: 0, stdout: '["addArticles","countArticles"]\n', stderr: "articles: 2\n" });
        expect(refused).to.include({ code: 2, stdout: "" });
        expect(refused.stderr).to.include("fix: stagecraft db:fresh --force");
        expect(fresh.stdout).to.match(
          /^dropped 3 objects, applied articles, orders, seeded addArticles, countArticles$/m,
        );
        expect(fresh.stderr).to.equal("articles: 1\n");
        expect(JSON.parse(withoutSeeds.stdout)).to.deep.equal({
          dropped: 3,
          applied: ["articles", "orders"],
          seeded: [],
        });
      });
    });
  }

  it("change a release with a second word alone", async () => {
    using folder = createFolder();
    folder.write(".env", "NODE_ENV=production\n");
    await folder.run("migrate");

    const [fresh, seed] = [await folder.run("db:fresh", "--force"), await folder.run("db:seed")];
    const intended = await folder.run("db:fresh", "--force", "--in-release", "--seed");

    expect([fresh.code, seed.code, intended.code]).to.deep.equal([2, 2, 0]);
    expect(fresh.stderr).to.include("fix: stagecraft db:fresh --force --in-release");
    expect(seed.stderr).to.include("fix: stagecraft db:seed --in-release");
  });

  it("drop nothing where the database has no migrations or seeds, or cannot read them", async () => {
    using folder = createFolder();
    await folder.run("migrate");
    const fresh = async (steps: string) => {
      folder.write("steps.js", steps);
      return folder.run("db:fresh", "--force", "--seed");
    };

    const withoutSeeds = await fresh(STEPS.replace("[addArticles, countArticles]", "[]"));
    const withoutMigrations = await fresh("export const [migrations, seeds] = [[], []];");
    const twoOfOneName = await fresh(STEPS.replace('create("orders")', 'create("articles")'));

    expect(withoutSeeds.code).to.equal(1);
    expect(withoutSeeds.stderr).to.include("ShopDatabase has no seeds, and nothing was dropped");
    expect(withoutMigrations.stderr).to.include("ShopDatabase has no migrations, and nothing was dropped");
    expect(twoOfOneName.stderr).to.include("two migrations have the name articles");
    folder.write("steps.js", STEPS);
    const status = await folder.run("migrate:status");
    expect(status.stdout).to.match(/articles +done\norders +done\n$/);
  });

  it("name the seed that fails", async () => {
    using folder = createFolder(
      STEPS.replace("async function countArticles(db) {", "async function countArticles(db) { db.none();"),
    );
    await folder.run("migrate");

    const { code, stderr } = await folder.run("db:seed");

    expect(code).to.equal(1);
    expect(stderr).to.include("the seed countArticles failed").and.include("db.none is not a function");
    expect(stderr).to.not.include("    at ");
  });
});
