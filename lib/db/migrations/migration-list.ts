/** The migrations of an application in their order, from values, lists and folders, with their names checked. */
import { FrameworkError } from "../../errors/framework-error.js";
import type { SqlFamily } from "../dialect.js";
import type { Migration } from "./migration.js";
import { fileError, MigrationFolder } from "./migration-files.js";

/** A migration, or a folder of migrations. */
export type MigrationSource = Migration | MigrationFolder;

/** @throws FrameworkError `E_DB_MIGRATION_FILE` for a repeated or impossible name, or an impossible checksum */
export async function loadMigrations(
  sources: readonly (MigrationSource | readonly Migration[])[],
  family: SqlFamily,
): Promise<readonly Migration[]> {
  const lists = await Promise.all(
    sources.map(async (source) => (source instanceof MigrationFolder ? source.load(family) : source)),
  );
  const all = lists.flat();
  const names = all.map(({ name }) => name);
  const wrong = names.find((name) => typeof name !== "string" || !/^[\w.:-]{1,200}$/.test(name));
  if (wrong !== undefined)
    throw fileError(
      `${JSON.stringify(wrong)} is not a name of a migration: use letters, digits, "-", "_", "." and ":"`,
    );
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) throw fileError(`two migrations have the name ${repeated}`);
  for (const migration of all) checkChecksum(migration);
  return all;
}

/** @throws FrameworkError `E_DB_MIGRATION_NAME` */
export function getMigration(migrations: readonly Migration[], name: string): Migration {
  const found = migrations.find((each) => each.name === name);
  if (found !== undefined) return found;
  throw new FrameworkError(
    `the application has no migration ${JSON.stringify(name)}: db.migrations.status() lists them`,
    {
      code: "E_DB_MIGRATION_NAME",
    },
  );
}

function checkChecksum({ name, checksum }: Migration): void {
  if (checksum === undefined || (typeof checksum === "string" && /^[ -~]{1,60}$/.test(checksum))) return;
  throw fileError(`the checksum of the migration ${name} is not a text of 1 to 60 characters of ASCII`);
}
