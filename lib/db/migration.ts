/**
 * Migrations: the steps that bring the schema of a database from one version of the application to the next, in order, each with a name that
 * never changes. They are values, or the files of a folder.
 *
 * Not for data that an application makes itself, and not for a step that was released: write the next one instead.
 *
 * @example
 * // migrations/2026-01-02-links.ts
 * export async function up(db: Kysely<MigrationTables>) {
 *   await db.schema.createTable("links").addColumn("slug", "varchar(40)", (slug) => slug.primaryKey()).execute();
 * }
 * export async function down(db: Kysely<MigrationTables>) {
 *   await db.schema.dropTable("links").execute();
 * }
 *
 * new ShopDatabase(sqlite("shop.db"), { migrations: [migrationsIn(new URL("migrations/", import.meta.url))], migrate: true });
 */
import type { Kysely } from "kysely";
import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { FrameworkError } from "../errors/framework-error.js";

/** A migration knows the tables of its time, which no type of today describes. */
export type MigrationTables = Record<string, Record<string, unknown>>;

export interface Migration {
  /** Unique and lasting: the database keeps it. 1 to 200 characters. */
  readonly name: string;
  readonly up: (db: Kysely<MigrationTables>) => Promise<unknown>;
  /** Undoes `up`, for `migrations.rollback`. */
  readonly down?: (db: Kysely<MigrationTables>) => Promise<unknown>;
  /** False for statements that an engine refuses in a transaction, such as `create index concurrently`. True unless set. */
  readonly transaction?: boolean;
}

/** The files of a folder, read when the database starts. */
export class MigrationFolder {
  constructor(private readonly path: string) {}

  /** In the order of the names. @throws FrameworkError `E_DB_MIGRATION_FILE` */
  async load(): Promise<readonly Migration[]> {
    const files = (await this.files()).filter(isModule).toSorted();
    return Promise.all(files.map((file) => loadFile(join(this.path, file))));
  }

  private async files(): Promise<readonly string[]> {
    try {
      return await readdir(this.path);
    } catch (cause) {
      throw fileError(`the folder of migrations ${this.path} cannot be read`, cause);
    }
  }
}

/** A single value, or a folder. */
export type MigrationSource = Migration | MigrationFolder;

/** @param folder with one file for each migration: `.js`, `.mjs`, or `.ts` where the program runs TypeScript */
export function migrationsIn(folder: string | URL): MigrationFolder {
  return new MigrationFolder(folder instanceof URL ? fileURLToPath(folder) : folder);
}

/** @throws FrameworkError `E_DB_MIGRATION_FILE` for a repeated or impossible name */
export async function loadMigrations(
  sources: readonly (MigrationSource | readonly Migration[])[],
): Promise<readonly Migration[]> {
  const lists = await Promise.all(
    sources.map(async (source) => (source instanceof MigrationFolder ? source.load() : source)),
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
  return all;
}

/**
 * Tells whether a migration was edited after it ran. It is made of the text of both functions without comments, white space, quotes,
 * brackets and the names of modules, so that a TypeScript source and the JavaScript that a compiler makes of it agree.
 */
export function checksumOf({ up, down, transaction = true }: Migration): string {
  const text = [up, down].map((each) => normalized(String(each ?? ""))).join("|");
  return createHash("sha256").update(`${transaction}|${text}`).digest("hex").slice(0, 32);
}

function normalized(text: string): string {
  return text
    .replaceAll(/\/\*[\s\S]*?\*\/|(?<![:"'`])\/\/[^\n]*/g, "")
    .replaceAll(/\b(?:import_\w+|\w+_\d+)\./g, "")
    .replaceAll(/\(0,\s*(\w+)\)/g, "$1")
    .replaceAll(/^(?:async\s+)?function\s+\w*/g, "")
    .replaceAll(/[\s;,'"`(){}]+/g, "");
}

function isModule(file: string): boolean {
  return /\.(?:m?js|m?ts)$/.test(file) && !/\.d\.m?ts$/.test(file);
}

async function loadFile(path: string): Promise<Migration> {
  // The check follows.
  const module = (await import(pathToFileURL(path).href)) as Partial<Migration>;
  const { up, down, transaction } = module;
  if (typeof up !== "function") throw fileError(`${path} exports no function up`);
  if (down !== undefined && typeof down !== "function")
    throw fileError(`${path} exports a down that is not a function`);
  const name = basename(path, extname(path));
  return { name, up, ...(down && { down }), ...(transaction !== undefined && { transaction }) };
}

function fileError(text: string, cause?: unknown): FrameworkError {
  return new FrameworkError(text, { code: "E_DB_MIGRATION_FILE", cause });
}
