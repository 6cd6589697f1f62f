/** The readiness of an application whose database server dies and comes back. */
import { Application, Controller, Get, Module, provide } from "@stagecraft/framework";
import { Database, type DatabaseDriver } from "@stagecraft/framework/db";
import { testApp, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { mysql } from "../../lib/db/drivers/mysql/mysql-driver.js";
import { postgres } from "../../lib/db/drivers/postgres/postgres-driver.js";
import { needs } from "../support/machine.js";
import { MariadbServer } from "../support/mariadb-server.js";
import { POSTGRES_PASSWORD, PostgresServer } from "../support/postgres-server.js";
import { until } from "../support/until.js";

interface Engine {
  readonly name: string;
  readonly program: "postgres" | "mariadbd";
  readonly start: () => Promise<PostgresServer | MariadbServer>;
  readonly driver: (url: string) => DatabaseDriver;
}

const ENGINES: readonly Engine[] = [
  { name: "PostgreSQL", program: "postgres", start: () => PostgresServer.borrow(), driver: (url) => postgres(url) },
  { name: "MariaDB", program: "mariadbd", start: () => MariadbServer.borrow(), driver: (url) => mysql(url) },
];

class AnyDatabase extends Database<object> {}

function application(driver: DatabaseDriver) {
  @Controller("/one")
  class OneController {
    constructor(private readonly db: AnyDatabase) {}

    @Get("/")
    one() {
      return this.db.run("select 1 as one");
    }
  }

  @Module({ controllers: [OneController], providers: [provide(AnyDatabase).useFactory(() => new AnyDatabase(driver))] })
  class OneModule {}

  return Application.create(OneModule).errorMapping();
}

const status = async (app: TestApp, path: string) => (await app.get(path)).status;

for (const { name, program, start, driver } of ENGINES)
  describe(`an application whose ${name} dies`, function () {
    this.timeout(60_000);
    let server: PostgresServer | MariadbServer;

    before(needs(program));
    before(async () => {
      server = await start();
    });
    after(() => server[Symbol.asyncDispose]());

    it("is alive and not ready, names the database and no password, and is ready when the server is back", async () => {
      await using app = await testApp(application(driver(server.url)));
      await until(async () => (await status(app, "/up/ready")) === 200);

      await server.kill();
      await until(async () => (await status(app, "/up/ready")) === 503);
      const answer = await (await app.get("/up/ready")).text();
      const during = [await status(app, "/up/live"), await status(app, "/one")];
      await server.restart();
      await until(async () => (await status(app, "/up/ready")) === 200);

      expect(JSON.parse(answer)).to.nested.include({ ready: false, "checks.database.status": "down" });
      expect(answer + app.logs.lines().join()).to.not.include(POSTGRES_PASSWORD);
      expect(during).to.deep.equal([200, 503]);
      expect(await status(app, "/one")).to.equal(200);
    });
  });
