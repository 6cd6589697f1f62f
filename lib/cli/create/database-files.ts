/** The database of a new project, and its first migration. */
import { DATABASE_URLS } from "./setting-files.js";
import { hasSessions, type ProjectOptions } from "./options.js";
import { toText, type ProjectFile } from "./project-file.js";

export function databaseFiles(options: ProjectOptions, now: Date): readonly ProjectFile[] {
  if (options.database === "none") return [];
  return [
    ["src/database.ts", toDatabase(options, options.database)],
    [`src/migrations/${now.toISOString().slice(0, 10)}-notes.ts`, toMigration(options)],
  ];
}

type ChosenEngine = Exclude<ProjectOptions["database"], "none">;

function toDatabase(options: ProjectOptions, engine: ChosenEngine): string {
  const { auth } = options;
  const tables = [
    ...(auth ? ["authMigrations", "jobsMigrations"] : []),
    ...(hasSessions(options) ? ["sessionMigrations"] : []),
  ];
  return toText(
    "/** The tables, and the database that has them. */",
    'import { environment, profile, variable } from "@stagecraft/framework";',
    auth && 'import { authMigrations } from "@stagecraft/framework/auth/db";',
    'import { Database, readMigrations } from "@stagecraft/framework/db";',
    `import { ${engine} } from "@stagecraft/framework/db/${engine}";`,
    auth && 'import { jobsMigrations } from "@stagecraft/framework/jobs";',
    hasSessions(options) && 'import { sessionMigrations } from "@stagecraft/framework/session/db";',
    "",
    "export interface Tables {",
    `  notes: { id: string; ${auth ? "owner: string; " : ""}text: string; created_at: string };`,
    auth && "  users: { id: string; name: string };",
    "}",
    "",
    "export class AppDatabase extends Database<Tables> {}",
    "",
    ...toConnection(engine, options.name),
    "",
    'const folder = new URL("migrations/", import.meta.url);',
    `const migrations = [${[...tables, "readMigrations(folder)"].join(", ")}];`,
    "",
    engine === "sqlite"
      ? "/** @param file a path, or `:memory:` */"
      : "/** @param url of the server, and of the database there */",
    `export function openDatabase(${PARAMETERS[engine]}) {`,
    `  // A deployment migrates before it starts: npx stagecraft migrate`,
    `  return new AppDatabase(${engine}(${engine === "sqlite" ? "file" : "url"}), { migrations, migrate: profile === "debug" });`,
    "}",
  );
}

const PARAMETERS = {
  sqlite: "file = environment(VARIABLES).DATABASE_FILE",
  postgres: "url = environment(VARIABLES).DATABASE_URL",
  mysql: "url = environment(VARIABLES).DATABASE_URL",
} as const;

function toConnection(engine: ChosenEngine, name: string): readonly string[] {
  if (engine === "sqlite") return ['const VARIABLES = { DATABASE_FILE: variable.text().default("app.db") };'];
  const schemes = engine === "postgres" ? '"postgres:", "postgresql:"' : '"mysql:", "mariadb:"';
  return [
    `const LOCAL = "${DATABASE_URLS[engine](name)}";`,
    `const VARIABLES = { DATABASE_URL: variable.serverUrl(${schemes}).default(LOCAL) };`,
  ];
}

function toMigration({ auth }: ProjectOptions): string {
  return toText(
    'import type { MigrationTables } from "@stagecraft/framework/db";',
    'import type { Kysely } from "kysely";',
    "",
    "export async function up(db: Kysely<MigrationTables>) {",
    ...(auth ? USERS : []),
    "  await db.schema",
    '    .createTable("notes")',
    '    .addColumn("id", "varchar(36)", (id) => id.primaryKey())',
    auth && '    .addColumn("owner", "varchar(36)", (owner) => owner.notNull())',
    '    .addColumn("text", "varchar(500)", (text) => text.notNull())',
    '    .addColumn("created_at", "varchar(24)", (time) => time.notNull())',
    "    .execute();",
    `  await db.schema.createIndex("notes_created").on("notes").columns([${auth ? '"owner", ' : ""}"created_at"]).execute();`,
    "}",
    "",
    "export async function down(db: Kysely<MigrationTables>) {",
    '  await db.schema.dropTable("notes").execute();',
    auth && '  await db.schema.dropTable("users").execute();',
    "}",
  );
}

const USERS = [
  "  await db.schema",
  '    .createTable("users")',
  '    .addColumn("id", "varchar(36)", (id) => id.primaryKey())',
  '    .addColumn("name", "varchar(100)", (name) => name.notNull())',
  "    .execute();",
];
