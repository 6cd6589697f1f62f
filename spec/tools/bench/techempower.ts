/**
 * The database scenarios of TechEmpower on PostgreSQL, by the rules of its verifier: our entry beside Fastify with pg and NestJS with TypeORM.
 * The benchmark makes the server and the tables, and ends it.
 */
import { join } from "node:path";
import { postgres } from "../../../lib/db/drivers/postgres/postgres-driver.js";
import { locate } from "../../support/machine.js";
import { PostgresServer } from "../../support/postgres-server.js";
import type { Contender } from "./contender.js";
import type { BenchOptions } from "./options.js";
import { OURS, PEERS } from "./places.js";
import type { Probe } from "./probe.js";
import { runScenario } from "./rounds.js";
import { FORTUNES, fortunesPage } from "./techempower-rules.js";
import { fillWorlds } from "./techempower-tables.js";

const CONTENDERS: readonly Contender[] = [
  { name: "fastify-pg", script: join(PEERS, "fastify-techempower.mjs") },
  { name: "nest-typeorm", script: join(PEERS, "nest-techempower.mjs") },
  { name: "stagecraft", script: join(OURS, "serve-techempower.js") },
];

const WORLD = String.raw`\{"id":\d+,"randomNumber":\d+\}`;

export const TECHEMPOWER = [
  part("db", "one row", "/db", `^${WORLD}$`),
  part("queries", "20 rows, each by a query of its own", "/queries?queries=20", twenty()),
  part("fortunes", "twelve rows as an HTML page", "/fortunes", fortunesPage(FORTUNES)),
  part("updates", "20 rows, each read by a query of its own, then updated", "/updates?queries=20", twenty()),
];

function twenty(): string {
  return String.raw`^\[(?:${WORLD},){19}${WORLD}\]$`;
}

/** @param body for HTML the whole text, for JSON a pattern */
function part(name: string, what: string, path: string, body: string) {
  return {
    name: `techempower:${name}`,
    what: `GET ${path} of TechEmpower on PostgreSQL: ${what}`,
    run: (options: BenchOptions) => measured(name, path, body, options),
  };
}

async function measured(name: string, path: string, body: string, options: BenchOptions): Promise<string> {
  if (locate("postgres") === undefined) return "postgres is not installed";
  await using server = await PostgresServer.start(["shared_buffers=128MB"]);
  await fillWorlds(postgres(server.url));
  process.env["BENCH_DB"] = server.url;
  const request = { method: "GET", path, headers: {} } as const;
  const isHtml = body.startsWith("<");
  const probe: Probe = {
    request,
    status: 200,
    body: isHtml ? body : new RegExp(body),
    headers: { "content-type": isHtml ? "text/html; charset=utf-8" : /^application\/json/, server: /./, date: /GMT$/ },
  };
  const what = `${name} of TechEmpower`;
  return await runScenario({ name, what, contenders: CONTENDERS, requests: [request], probes: [probe] }, options);
}
