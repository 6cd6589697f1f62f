/**
 * The place of the jobs of the killing run: a file of SQLite, or a server of PostgreSQL, MariaDB or Redis that the run starts. The worker
 * processes reach a server through a proxy, which delays and cuts; they find it by `JOBS_ENGINE` and `JOBS_PLACE`.
 */
import { join } from "node:path";
import { Database, type DatabaseDriver } from "@stagecraft/framework/db";
import { mysql } from "@stagecraft/framework/db/mysql";
import { postgres } from "@stagecraft/framework/db/postgres";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { DatabaseJobs, type JobEngine, type JobStore } from "@stagecraft/framework/jobs";
import { BullJobs } from "@stagecraft/framework/jobs/bullmq";
import { MariadbServer } from "../../support/mariadb-server.js";
import { PostgresServer } from "../../support/postgres-server.js";
import { RedisServer } from "../../support/redis-server.js";
import { TcpProxy } from "../../support/tcp-proxy.js";

export class KillDatabase extends Database<Record<string, never>> {}

type Engine = "sqlite" | "postgres" | "mariadb" | "bullmq";
type Variables = Readonly<Record<string, string | undefined>>;

const DRIVERS: Readonly<Record<Exclude<Engine, "bullmq">, (place: string) => DatabaseDriver>> = {
  sqlite: (place) => sqlite(place, { waitMs: 20_000 }),
  postgres: (url) => postgres({ url }),
  mariadb: (url) => mysql({ url }),
};

export interface JobsPlace extends AsyncDisposable {
  /** The variables of the run itself. */
  readonly own: Readonly<Record<string, string>>;
  /** The variables of the worker processes. */
  readonly env: Readonly<Record<string, string>>;
  /** None for a file. */
  readonly proxy: TcpProxy | undefined;
}

/** @throws Error when there is no such engine. */
export async function startEngine(name: string, folder: string): Promise<JobsPlace> {
  const engine = engineOf(name);
  const server = await startServer(engine);
  const place = server?.url ?? join(folder, "jobs.db");
  const proxy = server && (await TcpProxy.start(server.url));
  return {
    own: { JOBS_ENGINE: engine, JOBS_PLACE: place },
    env: { JOBS_ENGINE: engine, JOBS_PLACE: proxy?.url ?? place },
    proxy,
    [Symbol.asyncDispose]: async () => {
      await proxy?.[Symbol.asyncDispose]();
      if (server instanceof RedisServer) await server.kill();
      else await server?.[Symbol.asyncDispose]();
    },
  };
}

async function startServer(engine: Engine): Promise<PostgresServer | MariadbServer | RedisServer | undefined> {
  if (engine === "postgres") return PostgresServer.start();
  if (engine === "bullmq") return RedisServer.start();
  return engine === "mariadb" ? MariadbServer.start() : undefined;
}

/** Absent for BullMQ, which needs no database. */
export function killDatabase(env: Variables): KillDatabase | undefined {
  const engine = engineOf(env["JOBS_ENGINE"]);
  return engine === "bullmq" ? undefined : new KillDatabase(DRIVERS[engine](env["JOBS_PLACE"] ?? ""));
}

export function killStore(env: Variables, database: KillDatabase | undefined): JobStore | JobEngine {
  return database === undefined ? new BullJobs({ url: env["JOBS_PLACE"] ?? "" }) : new DatabaseJobs(database);
}

function engineOf(name = ""): Engine {
  if (name === "sqlite" || name === "postgres" || name === "mariadb" || name === "bullmq") return name;
  throw new Error(`--on takes sqlite, postgres, mariadb or bullmq, not "${name}"`);
}
