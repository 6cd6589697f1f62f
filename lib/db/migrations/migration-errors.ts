/** The errors of `db.migrations`. The message of each names the fix. */
import { DiagnosticError } from "../../errors/diagnostic.js";
import { FrameworkError } from "../../errors/framework-error.js";
import { valueText } from "../../errors/value-text.js";
import { MIGRATION_TABLE } from "./migration-records.js";

export function editedError(name: string): FrameworkError {
  return new FrameworkError(
    `the migration ${name} was edited after it had run: its checksum is another one. Restore it, and write a new migration for the ` +
      `change. If the edit does not change the schema, call db.migrations.accept("${name}", "the reason"). db.migrations.show("${name}") ` +
      "lists what was executed.",
    { code: "E_DB_MIGRATION_EDITED" },
  );
}

export function halfAppliedError(name: string, at = "", by = ""): FrameworkError {
  return new FrameworkError(
    `the migration ${name} started at ${at}${by === "" ? "" : `, in ${by},`} and did not end, so half of it may be applied. Compare the ` +
      `schema with it. Then delete its row of ${MIGRATION_TABLE} if no part of it is there, or set state to 'done' if all of it is.`,
    { code: "E_DB_MIGRATION_HALF" },
  );
}

export function notAppliedError(name: string): FrameworkError {
  return new FrameworkError(`the migration ${valueText(name)} is not applied: db.migrations.status() lists them`, {
    code: "E_DB_MIGRATION_NAME",
  });
}

export function stoppedError(done: "applied" | "undone", names: readonly string[], cause: unknown): FrameworkError {
  const result = names.length === 0 ? "none was" : `${names.join(", ")} ${names.length === 1 ? "is" : "are"}`;
  const rest = done === "applied" ? "the next run applies those that are pending" : "the others are still applied";
  return new FrameworkError(`the migrations were stopped: ${result} ${done}, and ${rest}`, {
    code: "E_DB_MIGRATION_STOPPED",
    cause,
  });
}

export function reasonError(): FrameworkError {
  return new FrameworkError(
    "the reason of an accepted edit is a text of 1 to 500 characters: db.migrations.accept(name, reason)",
    { code: "E_DB_MIGRATION_REASON" },
  );
}

export function countError(count: unknown): FrameworkError {
  return new FrameworkError(`${valueText(count)} is not a number of migrations to undo: use a whole number from 0`, {
    code: "E_DB_MIGRATION_COUNT",
  });
}

export function missingDownError(name: string): FrameworkError {
  return new FrameworkError(
    `the migration ${name} cannot be rolled back: it has no down; write one, or a new migration that reverts it`,
    { code: "E_DB_MIGRATION_DOWN" },
  );
}

export function pendingError(database: string, pending: readonly string[]): FrameworkError {
  return new DiagnosticError({
    code: "E_DB_PENDING",
    what: `${database} lacks ${pending.length} ${pending.length === 1 ? "migration" : "migrations"}: ${pending.join(", ")}`,
    where: `migrations of ${database}`,
    fix: "run npx stagecraft migrate, or call db.migrations.run(), before the start; or give the database the option { migrate: true }",
  });
}
