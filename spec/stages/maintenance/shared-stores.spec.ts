/** The stores of a maintenance in databases and in Redis: two applications and the command on each, also while the server is away. */
import { Application, Maintenance, Route, Routes } from "@stagecraft/framework";
import { MemoryCache } from "@stagecraft/framework/cache";
import { RedisCache } from "@stagecraft/framework/cache/redis";
import { Database } from "@stagecraft/framework/db";
import { RedisMaintenanceStore } from "@stagecraft/framework/maintenance";
import { DatabaseMaintenanceStore, maintenanceMigrations } from "@stagecraft/framework/maintenance/db";
import { testApp, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { ENGINES, openDriver } from "../../idempotency/db/order-database.js";
import { ApplicationFolder } from "../../support/application-folder.js";
import { errorOf } from "../../support/error-of.js";
import { needs } from "../../support/machine.js";
import { needRedis, RedisServer } from "../../support/redis-server.js";
import { until } from "../../support/until.js";

class ShopDatabase extends Database<unknown> {}

const migrations = [maintenanceMigrations];

const startOn = (maintenance: Maintenance) =>
  testApp(
    Application.create()
      .routes(new Routes([Route.get("/", () => "open")]))
      .maintenance(maintenance),
  );

const follows = (app: TestApp, status: number) => until(async () => (await app.get("/")).status === status);

const commandOn = (setUp: string, store: string) => `
  import { Application, Maintenance } from "@stagecraft/framework";
  import { RedisMaintenanceStore } from "@stagecraft/framework/maintenance";
  import { DatabaseMaintenanceStore, maintenanceMigrations } from "@stagecraft/framework/maintenance/db";
  ${setUp}
  export default () => Application.create().maintenance(new Maintenance().store(${store}));
`;

const ON_DATABASE = (url: string) => {
  const entry = url.startsWith("postgres") ? "postgres" : url.startsWith("m") ? "mysql" : "sqlite";
  const options = entry === "sqlite" ? JSON.stringify(url) : `{ url: ${JSON.stringify(url)} }`;
  return commandOn(
    `import { Database } from "@stagecraft/framework/db";
     import { ${entry} } from "@stagecraft/framework/db/${entry}";
     class ShopDatabase extends Database {}`,
    `new DatabaseMaintenanceStore(new ShopDatabase(${entry}(${options}), { migrations: [maintenanceMigrations] }))`,
  );
};

/** Down and up by the command, and a change by code, in two applications. */
async function isOneSwitch(create: () => Maintenance, folder: ApplicationFolder): Promise<void> {
  const handle = create();
  await using app = await startOn(handle);
  await using other = await startOn(create());

  const down = await folder.run("down", "--json");
  expect(down).to.deep.include({ code: 0, stderr: "" });
  await Promise.all([follows(app, 503), follows(other, 503)]);
  const again = await folder.run("down", "--json");
  expect(again.stdout).to.equal(down.stdout);
  expect(await folder.run("up")).to.deep.include({ code: 0, stderr: "" });
  await Promise.all([follows(app, 200), follows(other, 200)]);
  handle.engage();
  await follows(other, 503);
  handle.disengage();
  await follows(other, 200);
}

for (const { name, program, start } of ENGINES) {
  describe(`a maintenance in ${name}`, function () {
    this.timeout(120_000);
    if (program !== undefined) before(needs(program));

    it("is one switch of all processes and of the command", async () => {
      await using engine = await start();
      using folder = new ApplicationFolder({ "app.js": ON_DATABASE(engine.url) });
      folder.install("kysely", "pg", "mysql2", "@photostructure/sqlite");
      const open = () => new ShopDatabase(openDriver(engine.url), { migrations, migrate: true });

      const early = await folder.run("down");
      await isOneSwitch(() => new Maintenance().store(new DatabaseMaintenanceStore(open())), folder);

      expect(early.code).to.equal(1);
      expect(early.stderr).to.include("stagecraft migrate");
    });
  });
}

describe("a maintenance in Redis", function () {
  this.timeout(120_000);
  before(function () {
    needRedis(this);
  });

  it("is one switch of all processes and of the command, and stays while the server is away", async () => {
    await using server = await RedisServer.start();
    const open = () => new Maintenance().store(new RedisMaintenanceStore(new RedisCache({ url: server.url })));
    using folder = new ApplicationFolder({
      "app.js": commandOn(
        `import { RedisCache } from "@stagecraft/framework/cache/redis";`,
        `new RedisMaintenanceStore(new RedisCache({ url: ${JSON.stringify(server.url)} }))`,
      ),
    });
    folder.install("ioredis");
    await isOneSwitch(open, folder);
    await using app = await startOn(open());
    await folder.run("down");
    await follows(app, 503);

    await server.kill();
    await until(() => app.logs.lines().some((line) => line.includes("the last known state stays")));
    const away = (await app.get("/")).status;
    // The new server has no data.
    await server.restart();
    await follows(app, 200);

    expect(away).to.equal(503);
  });

  it("needs a cache with scripts", () => {
    expect(errorOf(() => new RedisMaintenanceStore(new MemoryCache()))).to.include({ code: "E_CACHE_SCRIPT" });
  });
});
