/** Fastify with pg in the TechEmpower scenarios. The statements that come again are prepared, by their names. */
import pg from "pg";
import { countOf, fortunesPage, randomIds, randomNumber } from "../../../../dist/spec/tools/bench/techempower-rules.js";
import { application } from "./support/fastify.mjs";
import { serve } from "./support/serve.mjs";

const WORLD = { name: "world", text: 'select id, randomnumber as "randomNumber" from world where id = $1' };
const FORTUNES = { name: "fortunes", text: "select id, message from fortune" };
const UPDATE = {
  name: "update",
  text: "update world set randomnumber = new.number from unnest($1::int[], $2::int[]) as new (id, number) where world.id = new.id",
};

const pool = new pg.Pool({ connectionString: process.env.BENCH_DB, max: 10 });

async function world(id) {
  return (await pool.query({ ...WORLD, values: [id] })).rows[0];
}

function worlds(count) {
  return Promise.all(randomIds(count).map(world));
}

async function update(found) {
  const updated = found.map(({ id }) => ({ id, randomNumber: randomNumber() }));
  const values = [updated.map(({ id }) => id), updated.map((each) => each.randomNumber)];
  await pool.query({ ...UPDATE, values });
  return updated;
}

function declare(app) {
  app.addHook("onRequest", (_request, reply, done) => {
    reply.header("Server", "fastify");
    done();
  });
  app.get("/db", () => world(randomNumber()));
  app.get("/queries", (request) => worlds(countOf(request.query.queries)));
  app.get("/fortunes", async (_request, reply) => {
    const { rows } = await pool.query(FORTUNES);
    reply.type("text/html; charset=utf-8");
    return fortunesPage(rows);
  });
  app.get("/updates", async (request) => update(await worlds(countOf(request.query.queries))));
}

const run = (on) => application(on, declare);

await serve({ db: run, queries: run, fortunes: run, updates: run });
