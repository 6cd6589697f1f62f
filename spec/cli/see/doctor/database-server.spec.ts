import { Database, type DatabaseDriver } from "@stagecraft/framework/db";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { expect } from "chai";
import { checkServer } from "../../../../lib/cli/see/doctor/database-server.js";
import { mysql } from "../../../../lib/db/drivers/mysql/mysql-driver.js";
import { postgres } from "../../../../lib/db/drivers/postgres/postgres-driver.js";
import { needs } from "../../../support/machine.js";
import { MariadbServer } from "../../../support/mariadb-server.js";
import { PostgresServer } from "../../../support/postgres-server.js";
import { until } from "../../../support/until.js";

class Shop extends Database<unknown> {}

interface Server extends AsyncDisposable {
  readonly url: string;
  run(sql: string): Promise<unknown>;
}

interface Engine {
  readonly name: string;
  readonly program: "postgres" | "mariadbd";
  readonly start: () => Promise<Server>;
  readonly driver: (url: string) => DatabaseDriver;
  readonly holder: RegExp;
}

const ENGINES: readonly Engine[] = [
  {
    name: "PostgreSQL",
    program: "postgres",
    start: () => PostgresServer.borrow(),
    driver: postgres,
    holder: /by process \d+; deleted rows stay until it ends; fix: .*select pg_terminate_backend\(\d+\)$/,
  },
  {
    name: "MariaDB",
    program: "mariadbd",
    start: () => MariadbServer.borrow(),
    driver: mysql,
    holder: /by connection \d+; deleted rows stay until it ends; fix: .*kill \d+$/,
  },
];

async function examine(db: Shop, now?: () => number, maxAgeS?: number): Promise<readonly string[]> {
  const findings = await checkServer(db, now, maxAgeS);
  return findings.map(({ level, what, fix }) => `${level} ${what}${fix === undefined ? "" : `; fix: ${fix}`}`);
}

const shifted = (ms: number) => () => Date.now() + ms;

describe("the doctor asks the server of a database", () => {
  it("not of SQLite, which has none", async () => {
    expect(await examine(new Shop(sqlite(":memory:")))).to.deep.equal([]);
  });

  for (const { name, program, start, driver, holder } of ENGINES) {
    describe(name, () => {
      let server: Server;
      let db: Shop;

      before(needs(program));
      before(async () => {
        server = await start();
        db = new Shop(driver(server.url));
        await db.start();
        await db.run("create table notes (id integer)");
      });
      after(async () => {
        await db.stop();
        await server[Symbol.asyncDispose]();
      });

      it("for its clock, which may differ by a second", async () => {
        const [same] = await examine(db);
        const [slow] = await examine(db, shifted(10_000));
        const [fast] = await examine(db, shifted(-10_000));
        const [wrong] = await examine(db, shifted(-3_600_000));

        expect(same).to.equal("ok Shop: its clock is that of this machine");
        expect(slow).to.match(
          /^warn Shop: its clock is \d+\.\d s behind that of this machine; fix: run a time service/,
        );
        expect(fast).to.match(/^warn Shop: its clock is \d+\.\d s ahead of that of this machine; fix:/);
        expect(wrong).to.match(/^fail Shop: its clock is 3\d{3}\.\d s ahead of that of this machine; fix:/);
      });

      it("for its oldest open transaction", async () => {
        const [, none] = await examine(db, undefined, 1);
        const open = await db.transaction(async () => {
          await db.run("insert into notes values (1)");
          const other = new Shop(driver(server.url));
          await other.start();
          let finding: string | undefined;
          try {
            await until(async () => {
              // MariaDB renews its list of transactions only where nothing has read it for 100 ms.
              await new Promise((resolve) => setTimeout(resolve, 150));
              [, finding] = await examine(other, undefined, 0);
              return finding?.startsWith("warn") === true;
            });
            return finding;
          } finally {
            await other.stop();
          }
        });

        expect(none).to.equal("ok Shop: no transaction is open for longer than 1 s");
        expect(open)
          .to.match(/^warn Shop: a transaction is open for \d+ s, /)
          .and.to.match(holder);
      });
    });
  }

  it("MariaDB as a user who may not see its transactions", async function () {
    needs("mariadbd").call(this);
    await using server = await MariadbServer.borrow();
    await server.run("create user 'little'@'%' identified by 'x'; grant select on shop.* to 'little'@'%'");
    const little = new Shop(mysql(server.url.replace(/\/\/.*@/, "//little:x@")));
    await little.start();

    const [, finding] = await examine(little);
    await little.stop();

    expect(finding).to.match(/^warn Shop: its open transactions cannot be seen: .*; fix: grant process/);
  });
});
