/** `migrate` and its siblings: the migrations of a database of the application. */
import type { DatabaseDriver } from "../../db/driver.js";
import type { MigrateOptions } from "../../db/migrations/migrator.js";
import { UsageError, type CommandContext } from "../command.js";
import { formatTable } from "../text-table.js";
import { withDatabase } from "./with-database.js";

interface Chosen {
  readonly database: string | undefined;
}

/** Applies the pending migrations. */
export async function migrate(values: Chosen & { readonly to: string | undefined }, context: CommandContext) {
  const { database, to } = values;
  const names = await withDatabase(context, database, ({ driver, migrations }) =>
    migrations.run({ ...(to === undefined ? {} : { to }), ...stopAtSignal(driver, context) }),
  );
  print(context, names, names.length === 0 ? "no migration is pending" : `applied ${names.join(", ")}`);
}

/**
 * A statement of SQLite blocks the process, so that no listener could run. There the signal ends the process, whose file is then as
 * before the migration. A server would go on with the statement of a process that has ended.
 */
function stopAtSignal({ dialect }: DatabaseDriver, context: CommandContext): Pick<MigrateOptions, "signal"> {
  // Only a read of the signal installs its handlers.
  if (dialect.family === "sqlite") return {};
  const { signal } = context;
  signal.addEventListener("abort", () =>
    context.stderr.write(
      "stopping; a migration without a transaction runs to its end, unless a second signal ends the command\n",
    ),
  );
  return { signal };
}

export async function showStatus({ database }: Chosen, context: CommandContext): Promise<void> {
  const rows = await withDatabase(context, database, ({ migrations }) => migrations.status(), "read");
  const table = formatTable(
    ["MIGRATION", "STATE"],
    rows.map(({ name, state }) => [name, state]),
  );
  print(context, rows, rows.length === 0 ? "the database has no migrations" : table.trimEnd());
}

/** Needs `--force`, because a migration that is undone deletes what it has created. */
export async function undo(
  values: Chosen & { readonly count: string | undefined; readonly force: true | undefined },
  context: CommandContext,
): Promise<void> {
  const { database, count = "1", force } = values;
  if (!/^[1-9]\d{0,3}$/.test(count))
    throw new UsageError(`${JSON.stringify(count)} is not a number of migrations`, {
      fix: "stagecraft migrate:undo 2 --force",
    });
  if (force !== true)
    throw new UsageError("migrate:undo may delete data", { fix: `stagecraft migrate:undo ${count} --force` });
  const names = await withDatabase(context, database, ({ driver, migrations }) =>
    migrations.rollback(Number(count), stopAtSignal(driver, context)),
  );
  print(context, names, names.length === 0 ? "no migration is applied" : `undid ${names.join(", ")}`);
}

export async function show(values: Chosen & { readonly name: string }, context: CommandContext): Promise<void> {
  const details = await withDatabase(
    context,
    values.database,
    ({ migrations }) => migrations.show(values.name),
    "read",
  );
  print(context, details, JSON.stringify(details, undefined, 2));
}

export async function accept(
  values: Chosen & { readonly name: string; readonly reason: string | undefined },
  context: CommandContext,
): Promise<void> {
  const { database, name, reason } = values;
  if (reason === undefined)
    throw new UsageError("an edit is accepted for a reason", {
      fix: `stagecraft migrate:accept ${name} --reason "a comment was corrected"`,
    });
  await withDatabase(context, database, ({ migrations }) => migrations.accept(name, reason));
  context.stdout.write(`accepted the edit of ${name}\n`);
}

export function print({ stdout, isJson }: CommandContext, value: unknown, sentence: string): void {
  stdout.write(`${isJson ? JSON.stringify(value) : sentence}\n`);
}
