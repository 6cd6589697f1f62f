/** `db:seed` and `db:fresh`: the rows that a new database starts with, and a database from its beginning. */
import type { Database } from "../../db/database.js";
import { CommandError, UsageError, type CommandContext } from "../command.js";
import { print } from "./migrate.js";
import { withDatabase } from "./with-database.js";

interface SeedValues {
  readonly database: string | undefined;
  readonly inRelease: true | undefined;
}

/** Runs the seeds. A database that lacks a migration is refused first. */
export async function seed({ database, inRelease }: SeedValues, context: CommandContext): Promise<void> {
  const names = await withDatabase(context, database, async (chosen) => {
    refuseRelease("db:seed", inRelease, context);
    if (!chosen.migrations.isEmpty) await chosen.migrations.throwIfPending();
    return chosen.seeds.run();
  });
  print(context, names, names.length === 0 ? "the database has no seeds" : `seeded ${names.join(", ")}`);
}

/** Everything that can be refused is refused before the first drop. */
export async function refresh(
  values: SeedValues & { readonly force: true | undefined; readonly seed: true | undefined },
  context: CommandContext,
): Promise<void> {
  const { database, force, inRelease, seed: withSeeds } = values;
  if (force !== true)
    throw new UsageError("db:fresh deletes all tables with their rows", { fix: "stagecraft db:fresh --force" });
  const result = await withDatabase(context, database, async (chosen) => {
    refuseRelease("db:fresh --force", inRelease, context);
    refuseEmpty(chosen, withSeeds === true);
    const dropped = await chosen.migrations.dropAll();
    const applied = await chosen.migrations.run();
    return { dropped, applied, seeded: withSeeds ? await chosen.seeds.run() : [] };
  });
  const { dropped, applied, seeded } = result;
  const seeds = seeded.length === 0 ? "" : `, seeded ${seeded.join(", ")}`;
  print(context, result, `dropped ${dropped} objects, applied ${applied.join(", ")}${seeds}`);
}

/** The file `.env` is read by now. A release has data of users, so the second word is another one than that which everyone types. */
function refuseRelease(command: string, inRelease: true | undefined, { env }: CommandContext): void {
  if (inRelease === true || env["NODE_ENV"] !== "production") return;
  throw new UsageError(`NODE_ENV is production, and ${command} changes the data of a release`, {
    fix: `stagecraft ${command} --in-release, if that is the intention`,
  });
}

function refuseEmpty({ name, migrations, seeds }: Database<unknown>, withSeeds: boolean): void {
  const missing = migrations.isEmpty ? "migrations" : "seeds";
  if (!migrations.isEmpty && !(withSeeds && seeds.isEmpty)) return;
  throw new CommandError(`the database ${name} has no ${missing}, and nothing was dropped`, {
    fix: `new ${name}(…, { ${missing}: [ … ] })${missing === "seeds" ? ", or leave out --seed" : ""}`,
  });
}
