/** The yardstick of the database benchmark: node:http by hand with the bare driver, whose statement is prepared. */
import { createServer } from "node:http";
import { listening, serve } from "./support/serve.mjs";

const address = process.env.BENCH_DB;

function items(on, find) {
  const server = createServer((request, response) => {
    const id = request.method === "GET" && request.url.startsWith("/items/") ? Number(request.url.slice(7)) : NaN;
    if (!Number.isInteger(id)) return respond(response, 404, "");
    Promise.resolve(find(id)).then(
      (item) => (item === undefined ? respond(response, 404, "") : respond(response, 200, JSON.stringify(item))),
      () => respond(response, 500, ""),
    );
  });
  return listening(server, on);
}

function respond(response, status, body) {
  response.writeHead(status, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) });
  response.end(body);
}

await serve({
  sqlite: async (on) => {
    // The driver of Stagecraft takes the same module.
    const { DatabaseSync } = await import("node:sqlite").catch(() => import("@photostructure/sqlite"));
    // Stored: without a reference the database is closed under its statement.
    const database = new DatabaseSync(address);
    const statement = database.prepare('select * from "items" where "id" = ?');
    return items(on, (id) => (database.isOpen ? statement.get(id) : undefined));
  },
  postgres: async (on) => {
    const { default: pg } = await import("pg");
    const pool = new pg.Pool({ connectionString: address, max: 10 });
    const query = { name: "item", text: 'select * from "items" where "id" = $1' };
    return items(on, async (id) => (await pool.query({ ...query, values: [id] })).rows[0]);
  },
});
