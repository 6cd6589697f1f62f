/** The migrations of the application compared with those that the database has: which are applied, pending, edited or half applied. */
import { tracing } from "../../tracing/tracing.js";
import type { Migration } from "./migration.js";
import { editedError, halfAppliedError } from "./migration-errors.js";
import { type AcceptedEdit, isEdited, type MigrationRecord } from "./migration-records.js";

const log = tracing.target("framework::db::migrations");

export interface MigrationStatus {
  readonly name: string;
  readonly state: "done" | "pending" | "started" | "edited";
}

/** The record of a migration in the database. */
export interface MigrationDetails extends MigrationStatus {
  /** The start, a date and time of ISO 8601; `undefined` for a pending migration. */
  readonly at: string | undefined;
  /** `process 4711 on web-1`; empty where an older version applied it. */
  readonly by: string | undefined;
  readonly durationMs: number | undefined;
  /** The executed statements with their placeholders and without binds; empty where an older version applied it. */
  readonly statements: readonly string[];
  /** The edits that were accepted, the oldest first. */
  readonly accepted: readonly AcceptedEdit[];
}

export function getStatus(
  migrations: readonly Migration[],
  records: readonly MigrationRecord[],
): readonly MigrationStatus[] {
  return migrations.map((migration) => ({
    name: migration.name,
    state: getState(migration, findRecord(migration, records)),
  }));
}

export function getDetails(migration: Migration, records: readonly MigrationRecord[]): MigrationDetails {
  const record = findRecord(migration, records);
  const { at, by, durationMs, statements = [], accepted = [] } = record ?? {};
  return { name: migration.name, state: getState(migration, record), at, by, durationMs, statements, accepted };
}

export function findRecord({ name }: Migration, records: readonly MigrationRecord[]): MigrationRecord | undefined {
  return records.find((each) => each.name === name);
}

/** @throws FrameworkError `E_DB_MIGRATION_EDITED`, `E_DB_MIGRATION_HALF` */
export function refuseEdits(migrations: readonly Migration[], records: readonly MigrationRecord[]): void {
  for (const { name, state, at, by } of migrations.map((each) => getDetails(each, records))) {
    if (state === "edited") throw editedError(name);
    if (state === "started") throw halfAppliedError(name, at, by);
  }
}

/** An older version of the application may start again after a newer one has migrated. */
export function warnOfUnknown(migrations: readonly Migration[], records: readonly MigrationRecord[]): void {
  const unknown = records.filter(({ name }) => !migrations.some((each) => each.name === name));
  for (const { name } of unknown) log.warn("applied migration is unknown", { migration: name });
}

/** Two branches may each have added a migration, and the one with the older name was merged later. */
export function warnIfLate(
  migration: Migration,
  migrations: readonly Migration[],
  records: readonly MigrationRecord[],
): void {
  const later = migrations.slice(migrations.indexOf(migration) + 1);
  const applied = later.findLast((each) => findRecord(each, records) !== undefined);
  if (applied !== undefined)
    log.warn("migration comes late: one behind it is applied", { migration: migration.name, applied: applied.name });
}

function getState(migration: Migration, record: MigrationRecord | undefined): MigrationStatus["state"] {
  if (record === undefined) return "pending";
  if (record.state === "started") return "started";
  return isEdited(migration, record) ? "edited" : "done";
}
