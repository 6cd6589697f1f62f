/** Whether each database of the application can be reached, and whether its migrations are applied and unchanged. Applies none. */
import { causeText } from "../../../errors/thrown-value.js";
import type { Subsystem } from "../../../lifecycle/subsystem.js";
import type { Database } from "../../../db/database.js";
import { checkServer } from "./database-server.js";
import type { Finding } from "./finding.js";

const check = "database";

const PROBE_TIMEOUT_MS = 5000;

export async function checkDatabases(subsystems: readonly Subsystem[]): Promise<readonly Finding[]> {
  const candidates = subsystems.filter(({ kind }) => kind === "database");
  if (candidates.length === 0) return [{ level: "ok", check, what: "the application has none" }];
  // An application without a database does not have its package.
  const { Database } = await import("../../../db/database.js");
  const databases = candidates.filter((each): each is Database<unknown> => each instanceof Database);
  const findings: Finding[] = [];
  for (const database of databases) findings.push(...(await checkDatabase(database)));
  return findings;
}

async function checkDatabase(database: Database<unknown>): Promise<readonly Finding[]> {
  const { name, driver, migrations } = database;
  try {
    if (await driver.isAbsent?.()) return [await checkAbsent(database)];
    await driver.start();
  } catch (error) {
    const fix = "start the server, and check its address and user";
    return [{ level: "fail", check, what: `${name} cannot be reached: ${causeText(error)}`, fix }];
  }
  try {
    await database.probe(AbortSignal.timeout(PROBE_TIMEOUT_MS));
    const finding: Finding = migrations.isEmpty
      ? { level: "ok", check, what: `${name} is reached` }
      : await checkMigrations(database);
    return [finding, ...(await checkServer(database))];
  } catch (error) {
    const fix = "correct its address, or its migrations";
    return [{ level: "fail", check, what: `${name}: ${causeText(error)}`, fix }];
  } finally {
    await driver.stop();
  }
}

/** The check does not create the file. */
async function checkAbsent(database: Database<unknown>): Promise<Finding> {
  const { name, driver, migrations } = database;
  if (!migrations.isEmpty) return checkMigrations(database);
  return { level: "ok", check, what: `${name}: the first start creates ${driver.address}` };
}

async function checkMigrations({ name, migrations }: Database<unknown>): Promise<Finding> {
  const all = await migrations.status();
  const list = (state: string) => all.filter((each) => each.state === state).map((each) => each.name);
  const [edited, started, pending] = [list("edited"), list("started"), list("pending")];
  if (edited.length > 0)
    return {
      level: "fail",
      check,
      what: `${name}: edited after they were applied: ${edited.join(", ")}`,
      fix: "write a new migration instead, or accept the edit",
    };
  if (started.length > 0)
    return {
      level: "fail",
      check,
      what: `${name}: may be half applied: ${started.join(", ")}`,
      fix: "see whether its changes are there, and complete or undo it",
    };
  if (pending.length > 0)
    return {
      level: "warn",
      check,
      what: `${name}: pending: ${pending.join(", ")}`,
      fix: "apply them before the next start",
    };
  return { level: "ok", check, what: `${name} is reached, and its ${all.length} migrations are applied` };
}
