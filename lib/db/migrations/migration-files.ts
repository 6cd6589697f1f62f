/**
 * A folder of migrations. A module exports `up`, and may export `down`, `transaction` and `checksum`. A file `name.sql` has the statements
 * of `up`, and `name.down.sql` those of `down`; its checksum is that of its text, so that no compiler can change it.
 */
import type { Kysely } from "kysely";
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { FrameworkError } from "../../errors/framework-error.js";
import type { SqlFamily } from "../dialect.js";
import { sql } from "../kysely.js";
import type { Migration, MigrationTables } from "./migration.js";
import { splitStatements } from "./sql-statements.js";

const DOWN = ".down.sql";

/** The files of a folder, read when the database starts. */
export class MigrationFolder {
  constructor(private readonly path: string) {}

  /** In the order of the names. @throws FrameworkError `E_DB_MIGRATION_FILE` */
  async load(family: SqlFamily): Promise<readonly Migration[]> {
    const files = await this.listFiles();
    const downs = files.filter((file) => file.endsWith(DOWN));
    const alone = downs.find((file) => !files.includes(`${file.slice(0, -DOWN.length)}.sql`));
    if (alone !== undefined) throw fileError(`${join(this.path, alone)} undoes no file of its folder`);
    const ups = files.filter((file) => isMigration(file) && !file.endsWith(DOWN)).toSorted(compareNames);
    return Promise.all(
      ups.map((file) => {
        const path = join(this.path, file);
        if (!file.endsWith(".sql")) return loadModule(path);
        const down = `${file.slice(0, -".sql".length)}${DOWN}`;
        return loadSql(path, downs.includes(down) ? join(this.path, down) : undefined, family);
      }),
    );
  }

  private async listFiles(): Promise<readonly string[]> {
    try {
      return await readdir(this.path);
    } catch (cause) {
      const isMissing = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
      const fault = isMissing
        ? "does not exist; tsc copies no .sql file: copy the folder in the build"
        : "cannot be read";
      throw fileError(`the folder of migrations ${this.path} ${fault}`, cause);
    }
  }
}

/** @param folder with one file for each migration: `.sql`, `.js`, `.mjs`, or `.ts` where the program runs TypeScript */
export function readMigrations(folder: string | URL): MigrationFolder {
  return new MigrationFolder(folder instanceof URL ? fileURLToPath(folder) : folder);
}

export function fileError(text: string, cause?: unknown): FrameworkError {
  return new FrameworkError(text, { code: "E_DB_MIGRATION_FILE", cause });
}

function isMigration(file: string): boolean {
  return /\.(?:m?js|m?ts|sql)$/.test(file) && !/\.d\.m?ts$/.test(file);
}

/** Without the extension, which a compiler changes. */
function compareNames(one: string, other: string): number {
  const [first, second] = [getMigrationName(one), getMigrationName(other)];
  if (first === second) return 0;
  return first < second ? -1 : 1;
}

function getMigrationName(path: string): string {
  return basename(path, extname(path));
}

async function loadModule(path: string): Promise<Migration> {
  // The lines below check the exports.
  const module = (await import(pathToFileURL(path).href)) as Partial<Migration>;
  const { up, down, transaction, checksum } = module;
  if (typeof up !== "function") throw fileError(`${path} exports no function up`);
  if (down !== undefined && typeof down !== "function")
    throw fileError(`${path} exports a down that is not a function`);
  return {
    name: getMigrationName(path),
    up,
    ...(down && { down }),
    ...(transaction !== undefined && { transaction }),
    ...(checksum !== undefined && { checksum }),
  };
}

async function loadSql(path: string, downPath: string | undefined, family: SqlFamily): Promise<Migration> {
  const text = await readText(path);
  const down = downPath === undefined ? undefined : await readText(downPath);
  return {
    name: getMigrationName(path),
    up: createRunner(text, family),
    ...(down !== undefined && { down: createRunner(down, family) }),
    transaction: !/^--\s*transaction:\s*false\s*$/im.test(text),
    checksum: `sql ${createHash("sha256").update(text.trimEnd()).digest("base64url")}`,
  };
}

/** With the same line ends on every machine: Git may have converted them. */
async function readText(path: string): Promise<string> {
  return (await readFile(path, "utf8")).replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
}

function createRunner(text: string, family: SqlFamily) {
  return async (db: Kysely<MigrationTables>): Promise<void> => {
    for (const statement of splitStatements(text, family)) await sql.raw(statement).execute(db);
  };
}
