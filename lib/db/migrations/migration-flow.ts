/**
 * The migrations that the running code is part of. A migration that calls `db.migrations` of the database that it migrates would wait until
 * the timeout for the lock or the connection that its run holds. Such a call is refused at once.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { findCaller } from "../../errors/setup-error.js";
import { FrameworkError } from "../../errors/framework-error.js";
import type { DatabaseDriver } from "../driver.js";
import type { Statements } from "../statements.js";

interface MigrationFlow {
  readonly driver: DatabaseDriver;
  /** The flow around this one: a migration may migrate another database. */
  readonly outer: MigrationFlow | undefined;
  /** True after the run: code that a migration started may continue after it. */
  isEnded: boolean;
}

const flows = new AsyncLocalStorage<MigrationFlow>();

/** Runs `run` as the migrations of this database. */
export async function inMigrations<T>({ driver }: Statements, run: () => Promise<T>): Promise<T> {
  const flow: MigrationFlow = { driver, outer: flows.getStore(), isEnded: false };
  try {
    return await flows.run(flow, run);
  } finally {
    flow.isEnded = true;
  }
}

/** Called before the first await, so that the error can name the call. @throws FrameworkError `E_DB_MIGRATION_NESTED` */
export function refuseInMigrations({ driver, host }: Statements): void {
  for (let flow = flows.getStore(); flow !== undefined; flow = flow.outer)
    if (!flow.isEnded && isOneDatabase(flow.driver, driver)) throw nestedError(host.name, findCaller(new Error()));
}

/** Two drivers may have the same address. In memory each has a separate database, and `:memory:` is no path. */
function isOneDatabase(one: DatabaseDriver, other: DatabaseDriver): boolean {
  if (one === other) return true;
  return one.dialect.name === other.dialect.name && one.address === other.address && one.address !== ":memory:";
}

function nestedError(database: string, call: string | undefined): FrameworkError {
  return new FrameworkError(
    `${database}: a migration calls db.migrations of its own database${call === undefined ? "" : ` (${call})`}, which waits for the end ` +
      "of the migration. Make it a separate migration in the list, or call it when the migrations have ended.",
    { code: "E_DB_MIGRATION_NESTED" },
  );
}
