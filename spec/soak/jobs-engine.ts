/**
 * The database of the killing run: a file of SQLite, or a server of PostgreSQL or MariaDB that the run starts. The worker processes find it
 * by `JOBS_ENGINE` and `JOBS_PLACE`.
 */
import { join } from "node:path";
import { Database, type DatabaseDriver } from "@stagecraft/framework/db";
import { mysql } from "@stagecraft/framework/db/mysql";
import { postgres } from "@stagecraft/framework/db/postgres";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { MariadbServer } from "../support/mariadb-server.js";
import { PostgresServer } from "../support/postgres-server.js";

export class KillDatabase extends Database<Record<string, never>> {}

type Engine = "sqlite" | "postgres" | "mariadb";

const DRIVERS: Readonly<Record<Engine, (place: string) => DatabaseDriver>> = {
  sqlite: (place) => sqlite(place, { waitMs: 20_000 }),
  postgres: (url) => postgres({ url }),
  mariadb: (url) => mysql({ url }),
};

export interface JobsPlace extends AsyncDisposable {
  /** The variables of the worker processes. */
  readonly env: Readonly<Record<string, string>>;
}

/** @throws Error when there is no such engine. */
export async function startEngine(name: string, folder: string): Promise<JobsPlace> {
  const engine = engineOf(name);
  const server = await startServer(engine);
  const place = server?.url ?? join(folder, "jobs.db");
  return {
    env: { JOBS_ENGINE: engine, JOBS_PLACE: place },
    [Symbol.asyncDispose]: async () => server?.[Symbol.asyncDispose](),
  };
}

async function startServer(engine: Engine): Promise<PostgresServer | MariadbServer | undefined> {
  if (engine === "postgres") return PostgresServer.start();
  return engine === "mariadb" ? MariadbServer.start() : undefined;
}

export function killDatabase(env: Readonly<Record<string, string | undefined>>): KillDatabase {
  return new KillDatabase(DRIVERS[engineOf(env["JOBS_ENGINE"])](env["JOBS_PLACE"] ?? ""));
}

function engineOf(name = ""): Engine {
  if (name === "sqlite" || name === "postgres" || name === "mariadb") return name;
  throw new Error(`--on takes sqlite, postgres or mariadb, not "${name}"`);
}
