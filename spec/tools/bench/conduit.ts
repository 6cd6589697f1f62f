/**
 * A page of twenty articles with their authors, tags and favorites, of a thousand in PostgreSQL: the modules of samples/conduit, beside
 * NestJS with TypeORM on the same tables.
 */
import { join } from "node:path";
import { ArticleLists } from "../../../samples/conduit/articles/article-lists.js";
import { type ConduitDatabase, openDatabase } from "../../../samples/conduit/database.js";
import { settingsFrom } from "../../../samples/conduit/settings.js";
import { NOBODY } from "../../../samples/conduit/users/viewer.js";
import { locate } from "../../support/machine.js";
import { PostgresServer } from "../../support/postgres-server.js";
import type { BenchOptions } from "./options.js";
import { OURS, PEERS } from "./places.js";
import { runScenario } from "./rounds.js";
import type { Scenario } from "./scenario.js";

const USERS = 50;
const ARTICLES = 1000;
const TAGS = ["news", "code", "notes"];

export const CONDUIT = {
  name: "conduit",
  what: "GET /api/articles of samples/conduit: twenty articles with authors, tags and favorites, in PostgreSQL",
  run: runConduit,
} as const;

async function runConduit(options: BenchOptions): Promise<string> {
  if (locate("postgres") === undefined) return "postgres is not installed";
  await using server = await PostgresServer.start();
  process.env["BENCH_DB"] = server.url;
  const database = await openDatabase(settingsFrom({ DATABASE_URL: server.url }));
  await database.start();
  await fill(database);
  const page = await new ArticleLists(database).page({ limit: 20, offset: 0 }, NOBODY);
  await server.run("analyze");
  await database.stop();
  return await runScenario(scenario(JSON.stringify(page)), options);
}

function scenario(body: string): Scenario {
  const request = { method: "GET", path: "/api/articles", headers: {} } as const;
  return {
    name: "conduit",
    what: CONDUIT.what,
    contenders: [
      { name: "nest-typeorm", script: join(PEERS, "nest-typeorm-conduit.mjs") },
      { name: "stagecraft", script: join(OURS, "serve-conduit.js") },
    ],
    requests: [request],
    probes: [{ request, status: 200, body, headers: { "content-type": /^application\/json/ } }],
  };
}

async function fill({ query }: ConduitDatabase): Promise<void> {
  const now = new Date(0).toISOString();
  const [users, articles] = [each(USERS, (at) => at + 1), each(ARTICLES, (at) => at + 1)];
  await query
    .insertInto("users")
    .values(users.map((id) => ({ username: `user-${id}`, email: `user-${id}@example.org`, password: "", bio: null })))
    .execute();
  await query
    .insertInto("articles")
    .values(
      articles.map((id) => ({
        author: (id % USERS) + 1,
        slug: `article-${id}`,
        title: `Article ${id}`,
        description: "What it is about",
        body: "Some text. ".repeat(100),
        created_at: now,
        updated_at: now,
      })),
    )
    .execute();
  const tags = articles.flatMap((article) => TAGS.map((tag) => ({ article, tag })));
  const favorites = articles.flatMap((article) => each(article % 10, (at) => ({ article, user: at + 1 })));
  await query.insertInto("tags").values(tags).execute();
  await query.insertInto("favorites").values(favorites).execute();
}

function each<T>(count: number, make: (at: number) => T): T[] {
  return Array.from({ length: count }, (_, at) => make(at));
}
