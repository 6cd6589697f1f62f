/** A database with two tables, for the specs of the room `db`. */
import { Database, type DatabaseDriver, type DatabaseOptions } from "@stagecraft/framework/db";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import type { Generated } from "kysely";
import { sql } from "../../lib/db/kysely.js";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface ShopTables {
  readonly articles: { readonly id: Generated<number>; readonly name: string; readonly stock: number };
  readonly orders: { readonly id: Generated<number>; readonly article: number; readonly note: string | null };
}

export class ShopDatabase extends Database<ShopTables> implements AsyncDisposable {
  async names(): Promise<readonly string[]> {
    const rows = await this.query.selectFrom("articles").select("name").orderBy("id").execute();
    return rows.map(({ name }) => name);
  }

  async add(name: string, stock = 1): Promise<void> {
    await this.query.insertInto("articles").values({ name, stock }).execute();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

const TABLES = [
  "create table articles (id integer primary key, name text not null unique, stock integer not null check (stock >= 0))",
  "create table orders (id integer primary key, article integer not null references articles (id), note text)",
];

/** Started, with empty tables. In memory unless the spec gives a driver. */
export async function shopDatabase(
  driver: DatabaseDriver = sqlite(":memory:"),
  options?: DatabaseOptions,
): Promise<ShopDatabase> {
  const db = new ShopDatabase(driver, options);
  await db.start();
  for (const table of TABLES) await sql.raw(table).execute(db.query);
  return db;
}

/** A folder that is removed at the end of the scope. */
export async function temporaryFolder(): Promise<AsyncDisposable & { file(name: string): string }> {
  const folder = await mkdtemp(join(tmpdir(), "framework-db-"));
  return {
    file: (name) => join(folder, name),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
