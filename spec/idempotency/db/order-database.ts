/** A database with the orders of the specs about idempotency keys, and its engines. */
import { Database, type DatabaseDriver } from "@stagecraft/framework/db";
import { mysql } from "@stagecraft/framework/db/mysql";
import { postgres } from "@stagecraft/framework/db/postgres";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { idempotencyMigrations } from "@stagecraft/framework/idempotency/db";
import { temporaryFolder } from "../../db/shop-database.js";
import { MariadbServer } from "../../support/mariadb-server.js";
import { PostgresServer } from "../../support/postgres-server.js";

export interface OrderTables {
  readonly orders: { readonly article: string; readonly buyer: string };
}

const ORDERS = {
  name: "orders",
  up: (db: Parameters<(typeof idempotencyMigrations)[number]["up"]>[0]) =>
    db.schema
      .createTable("orders")
      .addColumn("article", "varchar(40)", (column) => column.notNull())
      .addColumn("buyer", "varchar(40)", (column) => column.notNull())
      .execute(),
};

export class OrderDatabase extends Database<OrderTables> implements AsyncDisposable {
  static on(driver: DatabaseDriver): OrderDatabase {
    return new OrderDatabase(driver, { migrations: [idempotencyMigrations, ORDERS], migrate: true });
  }

  async add(article: string, buyer: string): Promise<void> {
    await this.query.insertInto("orders").values({ article, buyer }).execute();
  }

  async articles(): Promise<readonly string[]> {
    const rows = await this.query.selectFrom("orders").select("article").orderBy("article").execute();
    return rows.map(({ article }) => article);
  }

  async keys(): Promise<number> {
    return (await this.run("select id from framework_idempotency_keys")).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/** An engine, with the place of its data as a text, which a child process reads. */
export interface OrderEngine {
  readonly name: string;
  readonly program?: "postgres" | "mariadbd";
  readonly start: () => Promise<StartedEngine>;
}

export interface StartedEngine extends AsyncDisposable {
  readonly url: string;
}

export function openDriver(url: string): DatabaseDriver {
  if (url.startsWith("postgres")) return postgres({ url });
  return url.startsWith("mysql") || url.startsWith("mariadb") ? mysql({ url }) : sqlite(url);
}

export const ENGINES: readonly OrderEngine[] = [
  {
    name: "SQLite",
    start: async () => {
      const folder = await temporaryFolder();
      return { url: folder.file("shop.db"), [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
    },
  },
  { name: "PostgreSQL", program: "postgres", start: () => PostgresServer.borrow() },
  { name: "MariaDB", program: "mariadbd", start: () => MariadbServer.borrow() },
];
