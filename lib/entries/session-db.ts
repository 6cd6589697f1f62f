/**
 * The entry point `@stagecraft/framework/session/db`: sessions in a database of the application. Needs the package `kysely`. If it is
 * missing, the import throws `E_PEER_MISSING`, which names the command that installs it.
 */
export { DatabaseSessionStore } from "../session-db/database-session-store.js";
export { sessionMigrations } from "../session-db/session-migrations.js";
