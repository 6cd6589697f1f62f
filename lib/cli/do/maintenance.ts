/**
 * `down` and `up`: the maintenance of all processes of the application, by the store of its `Maintenance`. Only the store is connected, so
 * that `down` works while another part of the application is away.
 */
import { hostname, userInfo } from "node:os";
import { FrameworkError } from "../../errors/framework-error.js";
import { causeText } from "../../errors/thrown-value.js";
import type { Subsystem } from "../../lifecycle/subsystem.js";
import { OVERDUE, SystemClock, within } from "../../runtime/clock.js";
import { MaintenanceLayer } from "../../stages/maintenance/maintenance.js";
import type { MaintenanceState, MaintenanceStore } from "../../stages/maintenance/maintenance-store.js";
import { loadApplication } from "../application/load-application.js";
import { CommandError, UsageError, type CommandContext } from "../command.js";
import { connect } from "./with-database.js";

/** For connecting, reading and writing together. */
const LIMIT_MS = 10_000;

/** Changes only what is asked for: a second call keeps the time and the user of the first one. */
export async function down(
  { retryAfter }: { readonly retryAfter: string | undefined },
  context: CommandContext,
): Promise<void> {
  if (retryAfter !== undefined && !/^\d{1,9}$/.test(retryAfter))
    throw new UsageError(`${JSON.stringify(retryAfter)} is no number of seconds`, {
      fix: "stagecraft down --retry-after 120",
    });
  const state = await withStore(context, async (store) => {
    const found = await readState(store);
    const isDown = found?.isEngaged === true;
    if (isDown && (retryAfter === undefined || found.retryAfter === Number(retryAfter))) return found;
    const next = isDown ? found : createState(true);
    return writeState(store, retryAfter === undefined ? next : { ...next, retryAfter: Number(retryAfter) });
  });
  print(context, state, `the application is in maintenance ${describeChange(state)}`);
}

export async function up(_values: unknown, context: CommandContext): Promise<void> {
  const state = await withStore(context, async (store) => {
    const found = await readState(store);
    return found?.isEngaged === false ? found : writeState(store, createState(false));
  });
  print(context, state, `the application is up ${describeChange(state)}`);
}

async function withStore<T>(context: CommandContext, use: (store: MaintenanceStore) => Promise<T>): Promise<T> {
  const store = await findStore(context);
  const result = await within(new SystemClock(), LIMIT_MS, connectAndUse(store, use));
  if (result !== OVERDUE) return result;
  throw new CommandError(`${store.name} does not respond within ${LIMIT_MS / 1000} s`, {
    fix: "run the command again when it responds; it is unknown whether the state has changed",
  });
}

async function findStore(context: CommandContext): Promise<MaintenanceStore> {
  const { application, file } = await loadApplication(context);
  const layer = application.layersAt("maintenance").find((each) => each instanceof MaintenanceLayer);
  const fix = 'call .maintenance(new Maintenance().store(new FileMaintenanceStore("/srv/shop/maintenance.json")))';
  if (layer === undefined)
    throw new CommandError("the application has no maintenance stage", { where: file.name, fix });
  const store = layer.maintenance.givenStore;
  if (store !== undefined) return store;
  throw new CommandError("the maintenance of the application has no store, so that each process has its own switch", {
    where: file.name,
    fix,
  });
}

async function connectAndUse<T>(store: MaintenanceStore, use: (store: MaintenanceStore) => Promise<T>): Promise<T> {
  const connected: { stop(): unknown }[] = [];
  try {
    for (const subsystem of store.subsystems) {
      const target = await withoutMigrations(subsystem);
      await connect(`${subsystem.kind} ${subsystem.name ?? subsystem.constructor.name}`, target);
      connected.push(target);
    }
    return await use(store);
  } finally {
    for (const each of connected) await each.stop();
  }
}

/** The start of a database would apply its migrations, or fail for a pending one. */
async function withoutMigrations(subsystem: Subsystem): Promise<Pick<Subsystem, "start" | "stop">> {
  if (subsystem.kind !== "database") return subsystem;
  const { Database } = await import("../../db/database.js");
  return subsystem instanceof Database ? subsystem.driver : subsystem;
}

/** A value that no program can read is replaced. */
async function readState(store: MaintenanceStore): Promise<MaintenanceState | undefined> {
  try {
    return await store.read();
  } catch (error) {
    if (error instanceof FrameworkError && error.code === "E_MAINTENANCE_STATE") return undefined;
    throw describeFailure(store, error);
  }
}

async function writeState(store: MaintenanceStore, state: MaintenanceState): Promise<MaintenanceState> {
  try {
    await store.write(state);
    return state;
  } catch (error) {
    throw describeFailure(store, error);
  }
}

function describeFailure({ name }: MaintenanceStore, error: unknown): CommandError {
  return new CommandError(`the state of the maintenance cannot be changed: ${causeText(error)}`, {
    where: name,
    fix: "correct what the message names; a table is missing until stagecraft migrate has run",
    cause: error,
  });
}

function createState(isEngaged: boolean): MaintenanceState {
  return { isEngaged, since: Date.now(), by: `${readUser()}@${hostname()}` };
}

/** The user of a container may have no name. */
function readUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}

function describeChange({ since, by }: MaintenanceState): string {
  return `since ${new Date(since).toISOString()}, by ${by}`;
}

function print({ stdout, isJson }: CommandContext, state: MaintenanceState, sentence: string): void {
  const { isEngaged, since, by, retryAfter } = state;
  const value = { engaged: isEngaged, since: new Date(since).toISOString(), by, retryAfter };
  stdout.write(`${isJson ? JSON.stringify(value) : sentence}\n`);
}
