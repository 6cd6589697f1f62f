/**
 * One row by its primary key over HTTP, on SQLite and on PostgreSQL: an injected repository, beside node:http with the bare driver. On
 * PostgreSQL also NestJS with TypeORM and with MikroORM, and AdonisJS with Lucid. The benchmark makes the file and the server, and ends both.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { postgres } from "../../../lib/db/drivers/postgres/postgres-driver.js";
import { sqlite } from "../../../lib/db/drivers/sqlite/sqlite-driver.js";
import type { DatabaseDriver } from "../../../lib/db/driver.js";
import { locate } from "../../support/machine.js";
import { PostgresServer } from "../../support/postgres-server.js";
import type { Contender } from "./contender.js";
import { itemOf, ITEMS, ItemDatabase } from "./db-items.js";
import type { BenchRequest } from "./load.js";
import type { BenchOptions } from "./options.js";
import { OURS, PEERS } from "./places.js";
import { runScenario } from "./rounds.js";
import type { Scenario } from "./scenario.js";

export const DB = {
  name: "db",
  what: "GET /items/{id}: one row by its primary key, as JSON, on SQLite and on PostgreSQL",
  run: runDb,
} as const;

const OWN: Contender = { name: "stagecraft", script: join(OURS, "serve-db.js") };
/** The query is compiled once. */
const prepared = (engine: string): Contender => ({
  ...OWN,
  name: "stagecraft-prepared",
  variant: `${engine}-prepared`,
});
const BARE: Contender = { name: "node", script: join(PEERS, "node-db.mjs") };
/** On PostgreSQL only: their drivers for SQLite are compiled when they are installed. */
const MAPPERS: readonly Contender[] = ["nest-typeorm", "nest-mikro-orm", "adonis-lucid"].map((name) => ({
  name,
  script: join(PEERS, `${name}.mjs`),
}));

async function runDb(options: BenchOptions): Promise<string> {
  const onSqlite = await overSqlite(options);
  if (locate("postgres") === undefined) return `SQLite\n\n${onSqlite}\n\npostgres is not installed`;
  return `SQLite\n\n${onSqlite}\n\nPostgreSQL\n\n${await overPostgres(options)}`;
}

async function overSqlite(options: BenchOptions): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "bench-db-"));
  const file = join(folder, "items.db");
  try {
    return await measured(file, sqlite(file), scenario("sqlite", [BARE, OWN, prepared("sqlite")]), options);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function overPostgres(options: BenchOptions): Promise<string> {
  await using server = await PostgresServer.start();
  return await measured(
    server.url,
    postgres(server.url),
    scenario("postgres", [BARE, OWN, prepared("postgres"), ...MAPPERS]),
    options,
  );
}

/** The contenders read the address from their environment. */
async function measured(
  address: string,
  driver: DatabaseDriver,
  asked: Scenario,
  options: BenchOptions,
): Promise<string> {
  await fill(driver);
  process.env["BENCH_DB"] = address;
  return runScenario(asked, options);
}

async function fill(driver: DatabaseDriver): Promise<void> {
  const db = new ItemDatabase(driver);
  await db.start();
  await db.query.schema
    .createTable("items")
    .addColumn("id", "integer", (column) => column.primaryKey())
    .addColumn("name", "text")
    .addColumn("price", "integer")
    .execute();
  await db.query
    .insertInto("items")
    .values(Array.from({ length: ITEMS }, (_, index) => itemOf(index + 1)))
    .execute();
  await db.stop();
}

function scenario(name: string, contenders: readonly Contender[]): Scenario {
  return {
    name,
    what: DB.what,
    contenders,
    requests: Array.from({ length: 64 }, (_, index) => get(((index * 37) % ITEMS) + 1)),
    probes: [
      {
        request: get(7),
        status: 200,
        body: JSON.stringify(itemOf(7)),
        headers: { "content-type": /^application\/json/ },
      },
      { request: get(ITEMS + 1), status: 404 },
    ],
  };
}

function get(id: number): BenchRequest {
  return { method: "GET", path: `/items/${id}`, headers: {} };
}
