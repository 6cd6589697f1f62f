/** Connects one database of the application, without the rest of it and without its migrations, and closes it at the end. */
import type { Database } from "../../db/database.js";
import { causeText } from "../../errors/thrown-value.js";
import { loadApplication } from "../application/load-application.js";
import { CommandError, UsageError, type CommandContext } from "../command.js";

/**
 * @param name of the database; it may be left out where the application has one
 * @param only `read`: `use` reads migrations alone, so a file of SQLite that does not exist is not created
 * @throws CommandError if the application has no database, or the database is away; UsageError if no database has the name
 */
export async function withDatabase<T>(
  context: CommandContext,
  name: string | undefined,
  use: (database: Database<unknown>) => Promise<T>,
  only?: "read",
): Promise<T> {
  const database = await findDatabase(context, name);
  const start = async () => (only === "read" && (await database.driver.isAbsent?.())) || database.driver.start();
  await connect(`database ${database.name}`, { start });
  try {
    return await use(database);
  } finally {
    await database.driver.stop();
  }
}

/** @param name such as `database ShopDatabase`. @throws CommandError if the store is away */
export async function connect(name: string, store: { start(): unknown }): Promise<void> {
  try {
    await store.start();
  } catch (error) {
    throw new CommandError(`the ${name} cannot be reached: ${causeText(error)}`, {
      fix: "start it, and check the variable with its address and user; stagecraft doctor says more",
      cause: error,
    });
  }
}

async function findDatabase(context: CommandContext, name: string | undefined): Promise<Database<unknown>> {
  const { application, file } = await loadApplication(context);
  const candidates = application.subsystems.filter(({ kind }) => kind === "database");
  if (candidates.length === 0)
    throw new CommandError("the application has no database", {
      where: file.name,
      fix: "provide one: the chapter on databases of the guide shows how",
    });
  // An application without a database does not have its package.
  const { Database } = await import("../../db/database.js");
  const databases = candidates.filter((each): each is Database<unknown> => each instanceof Database);
  const chosen =
    name === undefined && databases.length === 1 ? databases : databases.filter((each) => each.name === name);
  const [database] = chosen;
  if (database !== undefined) return database;
  throw new UsageError(name === undefined ? "the application has several databases" : `there is no database ${name}`, {
    fix: `choose one: --database ${databases.map((each) => each.name).join(" or ")}`,
  });
}
