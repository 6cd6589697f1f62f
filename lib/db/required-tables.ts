/**
 * The tables that parts of the framework need in a database of the application. The start of the database checks them after its migrations:
 * without them, each claim of a job and each request with a session would fail.
 */
import { DiagnosticError } from "../errors/diagnostic.js";
import { DatabaseError } from "./database-error.js";

/** One table. */
export interface RequiredTable {
  readonly table: string;
  /** The migrations that create it: `jobsMigrations of @stagecraft/framework/jobs`. */
  readonly migrations: string;
}

/** The part of a `Database` that the check uses. */
interface Readable {
  readonly name: string;
  run(text: string): Promise<unknown>;
}

/** @throws DiagnosticError `E_DB_TABLE`; DatabaseError where the server cannot tell */
export async function checkTables(database: Readable, tables: Iterable<RequiredTable>): Promise<void> {
  for (const required of tables) {
    try {
      await database.run(`SELECT 1 AS one FROM ${required.table} WHERE 1 = 0`);
    } catch (cause) {
      if (!(cause instanceof DatabaseError) || cause.kind !== "other") throw cause;
      throw missingTableError(database.name, required, cause);
    }
  }
}

function missingTableError(
  database: string,
  { table, migrations }: RequiredTable,
  cause: DatabaseError,
): DiagnosticError {
  return new DiagnosticError(
    {
      code: "E_DB_TABLE",
      what: `the table ${table} cannot be read: ${cause.message}`,
      where: `the migrations of ${database}`,
      fix: `list ${migrations} under the migrations of ${database}, and apply them`,
    },
    { cause },
  );
}
