/**
 * The entry point `@stagecraft/framework/session/db`: sessions in a database of the application. Needs the package `kysely`. If it is
 * missing, the import throws `E_PEER_MISSING`, which names the command that installs it.
 */
export { DatabaseSessionStore } from "../stages/session/stores/db/database-session-store.js";
export { sessionMigrations } from "../stages/session/stores/db/session-migrations.js";
