/** AdonisJS 6 with Lucid, the last versions for Node 20: a model that is found by its key. No session and no body parser are on. */
import { mkdtempSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { IgnitorFactory } from "@adonisjs/core/factories";
import { defineConfig } from "@adonisjs/lucid";
import { serve } from "./support/serve.mjs";

async function declare(app) {
  const { BaseModel } = await import("@adonisjs/lucid/orm");
  class Item extends BaseModel {
    static table = "items";
  }
  Item.boot();
  Item.$addColumn("id", { isPrimary: true });
  Item.$addColumn("name", {});
  Item.$addColumn("price", {});
  const router = await app.container.make("router");
  router.get("/items/:id", async ({ params, response }) => {
    const item = await Item.find(Number(params.id));
    return item ?? response.notFound();
  });
}

async function items({ port, host }) {
  process.env.HOST = host;
  process.env.PORT = String(port);
  const connection = { client: "pg", connection: process.env.BENCH_DB, pool: { min: 0, max: 10 } };
  const ignitor = new IgnitorFactory()
    .withCoreConfig()
    .withCoreProviders()
    .merge({
      rcFileContents: { providers: [() => import("@adonisjs/lucid/database_provider")] },
      config: { database: defineConfig({ connection: "postgres", connections: { postgres: connection } }) },
    })
    .preload(declare)
    .create(pathToFileURL(`${mkdtempSync(join(tmpdir(), "adonis-"))}/`), { importer: (path) => import(path) });
  let server;
  await ignitor.httpServer().start((listener) => (server = createServer(listener)));
  return server.address();
}

await serve({ postgres: items });
