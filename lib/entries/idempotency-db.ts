/**
 * The entry point `@stagecraft/framework/idempotency/db`: idempotency keys in a database of the application. Needs the package `kysely`. If
 * it is missing, the import throws `E_PEER_MISSING`, which names the command that installs it.
 */
export { DatabaseIdempotencyStore } from "../idempotency/db/database-idempotency-store.js";
export { idempotencyMigrations } from "../idempotency/db/idempotency-migrations.js";
