/** The servers that files of specs borrow: the next file finds nothing of the last one, and the end of a process leaves no server. */
import { mysql } from "@stagecraft/framework/db/mysql";
import { postgres } from "@stagecraft/framework/db/postgres";
import { expect } from "chai";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseDriver } from "../../lib/db/driver.js";
import { needs } from "../support/machine.js";
import { MARIADB_PASSWORD, MariadbServer } from "../support/mariadb-server.js";
import { POSTGRES_PASSWORD, PostgresServer } from "../support/postgres-server.js";
import { ROOT } from "../support/sources.js";
import { until } from "../support/until.js";

interface Engine {
  readonly program: "postgres" | "mariadbd";
  readonly server: { borrow(): Promise<PostgresServer | MariadbServer> };
  readonly driver: (url: string) => DatabaseDriver;
  /** What a file may leave. */
  readonly left: readonly string[];
  /** Returns one row for each object that a file has left. */
  readonly found: readonly string[];
}

const ENGINES: Readonly<Record<string, Engine>> = {
  PostgreSQL: {
    program: "postgres",
    server: PostgresServer,
    driver: (url) => postgres(url),
    left: [
      "create table items (id serial primary key, mood text)",
      "create type mood as enum ('good'); create schema more; create table more.items (mood mood)",
      "create function one() returns int language sql as 'select 1'",
      `create role reader login password '${POSTGRES_PASSWORD}'; grant select on items to reader`,
      "alter database shop set default_transaction_read_only = on",
    ],
    found: [
      "select relname from pg_class join pg_namespace s on s.oid = relnamespace where nspname in ('public', 'more')",
      "select typname from pg_type where typname = 'mood'",
      "select proname from pg_proc where proname = 'one'",
      "select rolname from pg_roles where rolname = 'reader'",
      "select 1 where current_setting('default_transaction_read_only') = 'on'",
    ],
  },
  MariaDB: {
    program: "mariadbd",
    server: MariadbServer,
    driver: (url) => mysql(url),
    left: [
      "create table items (id int primary key); create view numbers as select id from items",
      "create function one() returns int return 1",
      "create database other; create table other.items (id int primary key)",
      `create user 'reader' identified by '${MARIADB_PASSWORD}'; grant select on shop.* to 'reader'`,
    ],
    found: [
      "select table_name from information_schema.tables where table_schema in ('shop', 'other')",
      "select routine_name from information_schema.routines where routine_name = 'one'",
      "select user from mysql.user where user = 'reader'",
      "select schema_name from information_schema.schemata where schema_name = 'other'",
    ],
  },
};

for (const [name, { program, server, driver: driverTo, left, found }] of Object.entries(ENGINES))
  describe(`a borrowed server of ${name}`, function () {
    this.timeout(60_000);
    before(needs(program));

    it("is the same one for the next file, without a connection or anything else of the last", async () => {
      const first = await server.borrow();
      for (const sql of left) await first.run(sql);
      const driver = driverTo(first.url);
      const connection = await driver.connect({ readOnly: true });
      await first[Symbol.asyncDispose]();
      await using next = await server.borrow();

      expect(next.port).to.equal(first.port);
      for (const sql of found) expect(await next.run(sql), sql).to.deep.equal([]);
      connection.release();
      await driver.stop();
      const another = driverTo(next.url);
      const usable = await another.connect({ readOnly: false });
      await usable.query({ sql: "create table items (id int)", parameters: [], isRead: false });
      usable.release();
      await another.stop();
    });
  });

describe("a borrowed server in which a file leaves what the emptying does not know", function () {
  this.timeout(60_000);
  before(needs("postgres"));

  it("is not lent again", async () => {
    const first = await PostgresServer.borrow();
    await first.run("create publication kept");
    await first[Symbol.asyncDispose]();
    await using next = await PostgresServer.borrow();

    expect(next.port).to.not.equal(first.port);
    expect(await next.run("select from pg_publication")).to.deep.equal([]);
  });
});

const PROGRAM = `
const { PostgresServer } = await import("${join(ROOT, "dist/spec/support/postgres-server.js")}");
const server = await PostgresServer.borrow();
const [{ folder }] = await server.run("select current_setting('data_directory') as folder");
console.log(folder);`;

describe("a process with a server that is killed", function () {
  this.timeout(60_000);
  before(needs("postgres"));

  it("leaves neither the server nor its folder", async () => {
    const child = spawn(process.execPath, ["--input-type=module", "-e", PROGRAM], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
    await until(() => said.endsWith("\n"));
    const folder = said.trim();
    const isThere = existsSync(folder);
    child.kill("SIGKILL");
    await once(child, "close");

    expect(isThere).to.equal(true);
    await until(() => !existsSync(join(folder, "..")));
  });
});
