/**
 * The tables of `authDatabase` as migrations, for the list of the database. A later version of the framework may add one; a migration that
 * was released never changes.
 *
 * @example
 * new AppDatabase(sqlite("app.db"), { migrations: [authMigrations, readMigrations(folder)], migrate: true });
 */
import type { Kysely } from "kysely";
import { sql } from "../../db/kysely.js";
import type { Migration, MigrationTables } from "../../db/migrations/migration.js";

const identityMigrations: readonly Migration[] = [
  {
    name: "framework-identities-1",
    up: (db) =>
      db.schema
        .createTable("framework_identities")
        .addColumn("user_id", toExactText(db, 64), (column) => column.primaryKey())
        .addColumn("email", toExactText(db, 254), (column) => column.notNull().unique())
        .addColumn("password", "varchar(255)")
        .addColumn("stamp", "varchar(64)", (column) => column.notNull())
        .addColumn("verified_at", "bigint")
        .addColumn("created_at", "bigint", (column) => column.notNull())
        .execute(),
    down: (db) => db.schema.dropTable("framework_identities").execute(),
  },
];

const linkMigrations: readonly Migration[] = [
  {
    name: "framework-single-use-links-1",
    up: async (db) => {
      await db.schema
        .createTable("framework_single_use_links")
        // 128 bits in lower-case hexadecimal digits, which every collation compares in the same way.
        .addColumn("id", "varchar(32)", (column) => column.primaryKey())
        .addColumn("purpose", "varchar(32)", (column) => column.notNull())
        .addColumn("user_id", toExactText(db, 64))
        .addColumn("email", toExactText(db, 254), (column) => column.notNull())
        .addColumn("stamp", "varchar(64)")
        .addColumn("password", "varchar(255)")
        .addColumn("data", "text", (column) => column.notNull())
        .addColumn("expires_at", "bigint", (column) => column.notNull())
        .execute();
      await createIndexes(db, "framework_single_use_links", ["email", "user_id", "expires_at"]);
    },
    down: (db) => db.schema.dropTable("framework_single_use_links").execute(),
  },
];

const rememberMigrations: readonly Migration[] = [
  {
    name: "framework-remember-tokens-1",
    up: async (db) => {
      await db.schema
        .createTable("framework_remember_tokens")
        .addColumn("selector", "varchar(32)", (column) => column.primaryKey())
        .addColumn("user_id", toExactText(db, 64), (column) => column.notNull())
        .addColumn("sign_in_id", "varchar(32)", (column) => column.notNull())
        .addColumn("stamp", "varchar(64)", (column) => column.notNull())
        .addColumn("method", "varchar(32)", (column) => column.notNull())
        .addColumn("generation", "integer", (column) => column.notNull())
        .addColumn("user_agent", "varchar(256)", (column) => column.notNull())
        .addColumn("address", "varchar(64)", (column) => column.notNull())
        .addColumn("created_at", "bigint", (column) => column.notNull())
        .addColumn("rotated_at", "bigint", (column) => column.notNull())
        .addColumn("expires_at", "bigint", (column) => column.notNull())
        .execute();
      await createIndexes(db, "framework_remember_tokens", ["user_id", "expires_at"]);
    },
    down: (db) => db.schema.dropTable("framework_remember_tokens").execute(),
  },
];

const secondStepMigrations: readonly Migration[] = [
  {
    name: "framework-totp-secrets-1",
    up: (db) =>
      db.schema
        .createTable("framework_totp_secrets")
        .addColumn("user_id", toExactText(db, 64), (column) => column.primaryKey())
        .addColumn("secret", toExactText(db, 255), (column) => column.notNull())
        .addColumn("last_step", "bigint", (column) => column.notNull())
        .addColumn("created_at", "bigint", (column) => column.notNull())
        .execute(),
    down: (db) => db.schema.dropTable("framework_totp_secrets").execute(),
  },
  {
    name: "framework-recovery-codes-1",
    up: async (db) => {
      await db.schema
        .createTable("framework_recovery_codes")
        .addColumn("hash", "varchar(64)", (column) => column.primaryKey())
        .addColumn("user_id", toExactText(db, 64), (column) => column.notNull())
        .execute();
      await createIndexes(db, "framework_recovery_codes", ["user_id"]);
    },
    down: (db) => db.schema.dropTable("framework_recovery_codes").execute(),
  },
];

const tokenMigrations: readonly Migration[] = [
  {
    name: "framework-api-tokens-1",
    up: async (db) => {
      await db.schema
        .createTable("framework_api_tokens")
        .addColumn("id", "varchar(32)", (column) => column.primaryKey())
        // SHA-256 in lower-case hexadecimal digits.
        .addColumn("hash", "varchar(64)", (column) => column.notNull().unique())
        .addColumn("user_id", toExactText(db, 64), (column) => column.notNull())
        .addColumn("name", toExactText(db, 100), (column) => column.notNull())
        // 32 scopes of 64 characters, with a space between them.
        .addColumn("scopes", "varchar(2079)", (column) => column.notNull())
        .addColumn("created_at", "bigint", (column) => column.notNull())
        .addColumn("expires_at", "bigint")
        .addColumn("last_used_at", "bigint")
        .execute();
      await createIndexes(db, "framework_api_tokens", ["user_id", "expires_at"]);
    },
    down: (db) => db.schema.dropTable("framework_api_tokens").execute(),
  },
];

const passkeyMigrations: readonly Migration[] = [
  {
    name: "framework-passkeys-1",
    up: async (db) => {
      await db.schema
        .createTable("framework_passkeys")
        .addColumn("id", "varchar(64)", (column) => column.primaryKey())
        .addColumn("user_id", toExactText(db, 64), (column) => column.notNull())
        // At most 1023 bytes in base64url (WebAuthn Level 3 section 4).
        .addColumn("credential_id", "text", (column) => column.notNull())
        .addColumn("public_key", "text", (column) => column.notNull())
        .addColumn("counter", "bigint", (column) => column.notNull())
        // SHA-256 in lower-case hexadecimal digits.
        .addColumn("last_challenge", "varchar(64)", (column) => column.notNull())
        .addColumn("transports", "varchar(255)", (column) => column.notNull())
        .addColumn("usage_kind", "varchar(32)", (column) => column.notNull())
        .addColumn("name", "text", (column) => column.notNull())
        .addColumn("created_at", "bigint", (column) => column.notNull())
        .addColumn("last_used_at", "bigint")
        .execute();
      await createIndexes(db, "framework_passkeys", ["user_id"]);
    },
    down: (db) => db.schema.dropTable("framework_passkeys").execute(),
  },
];

const providerMigrations: readonly Migration[] = [
  {
    name: "framework-provider-accounts-1",
    up: async (db) => {
      await db.schema
        .createTable("framework_provider_accounts")
        .addColumn("id", "varchar(64)", (column) => column.primaryKey())
        .addColumn("user_id", toExactText(db, 64), (column) => column.notNull())
        .addColumn("provider", "varchar(64)", (column) => column.notNull())
        .addColumn("issuer", "varchar(255)", (column) => column.notNull())
        // OpenID Connect Core section 2: at most 255 characters of ASCII.
        .addColumn("subject", "varchar(255)", (column) => column.notNull())
        .addColumn("email", "text", (column) => column.notNull())
        .addColumn("created_at", "bigint", (column) => column.notNull())
        .addColumn("last_used_at", "bigint", (column) => column.notNull())
        .addColumn("tokens", "text")
        .addColumn("tokens_expire_at", "bigint")
        .addColumn("tokens_version", "bigint", (column) => column.notNull())
        .addColumn("tokens_leased_until", "bigint")
        .execute();
      await createIndexes(db, "framework_provider_accounts", ["user_id"]);
    },
    down: (db) => db.schema.dropTable("framework_provider_accounts").execute(),
  },
  {
    name: "framework-provider-attempts-1",
    up: async (db) => {
      await db.schema
        .createTable("framework_provider_attempts")
        .addColumn("id", "varchar(64)", (column) => column.primaryKey())
        .addColumn("expires_at", "bigint", (column) => column.notNull())
        .execute();
      await createIndexes(db, "framework_provider_attempts", ["expires_at"]);
    },
    down: (db) => db.schema.dropTable("framework_provider_attempts").execute(),
  },
];

const refreshMigrations: readonly Migration[] = [
  {
    name: "framework-refresh-tokens-1",
    up: async (db) => {
      await db.schema
        .createTable("framework_refresh_tokens")
        .addColumn("selector", "varchar(32)", (column) => column.primaryKey())
        .addColumn("user_id", toExactText(db, 64), (column) => column.notNull())
        .addColumn("client_id", toExactText(db, 255))
        .addColumn("scopes", "text", (column) => column.notNull())
        .addColumn("stamp", "varchar(64)", (column) => column.notNull())
        .addColumn("generation", "integer", (column) => column.notNull())
        .addColumn("created_at", "bigint", (column) => column.notNull())
        .addColumn("rotated_at", "bigint", (column) => column.notNull())
        .addColumn("expires_at", "bigint", (column) => column.notNull())
        .execute();
      await createIndexes(db, "framework_refresh_tokens", ["user_id", "expires_at"]);
    },
    down: (db) => db.schema.dropTable("framework_refresh_tokens").execute(),
  },
];

/** Creates the tables of `authDatabase`. */
export const authMigrations: readonly Migration[] = [
  ...identityMigrations,
  ...linkMigrations,
  ...rememberMigrations,
  ...secondStepMigrations,
  ...tokenMigrations,
  ...passkeyMigrations,
  ...providerMigrations,
  ...refreshMigrations,
];

async function createIndexes(db: Kysely<MigrationTables>, table: string, columns: readonly string[]): Promise<void> {
  for (const column of columns) await db.schema.createIndex(`${table}_${column}`).on(table).column(column).execute();
}

/**
 * A text that is compared character by character. The collations of MySQL and MariaDB take `jose` and `José` as equal, and with them two
 * persons.
 */
function toExactText(db: Kysely<MigrationTables>, length: number) {
  // A migration has the query builder alone. Only that of MySQL and MariaDB quotes names with backticks.
  const isMysql = db.selectFrom("framework_identities").select("email").compile().sql.includes("`");
  const type = `varchar(${length})`;
  return sql.raw(isMysql ? `${type} character set utf8mb4 collate utf8mb4_bin` : type);
}
