/** `migrate` and its siblings: the migrations of a database of the application. */
import { UsageError, type CommandContext } from "../command.js";
import { formatTable } from "../text-table.js";
import { withDatabase } from "./with-database.js";

interface Chosen {
  readonly database: string | undefined;
}

/** Applies the pending migrations. */
export async function migrate(values: Chosen & { readonly to: string | undefined }, context: CommandContext) {
  const { database, to } = values;
  const names = await withDatabase(context, database, ({ migrations }) =>
    migrations.run(to === undefined ? {} : { to }),
  );
  print(context, names, names.length === 0 ? "no migration is pending" : `applied ${names.join(", ")}`);
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
  const names = await withDatabase(context, database, ({ migrations }) => migrations.rollback(Number(count)));
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
