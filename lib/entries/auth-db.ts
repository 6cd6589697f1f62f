/**
 * The entry point `@stagecraft/framework/auth/db`: identities and their links in a database of the application. Needs the package `kysely`.
 * If it is missing, the import throws `E_PEER_MISSING`, which names the command that installs it.
 */
export { authDatabase } from "../auth/db/auth-database.js";
export { authMigrations } from "../auth/db/auth-migrations.js";
export { DatabaseApiTokens } from "../auth/db/database-api-tokens.js";
export { DatabaseIdentities } from "../auth/db/database-identities.js";
export { DatabaseLinks } from "../auth/db/database-links.js";
export { DatabasePasskeys } from "../auth/db/database-passkeys.js";
export { DatabaseProviderAccounts } from "../auth/db/database-provider-accounts.js";
export { DatabaseRecoveryCodes } from "../auth/db/database-recovery-codes.js";
export { DatabaseRefreshTokens } from "../auth/db/database-refresh-tokens.js";
export { DatabaseRememberTokens } from "../auth/db/database-remember-tokens.js";
export { DatabaseTotpSecrets } from "../auth/db/database-totp-secrets.js";
export type { RefreshFamily } from "../auth/jwt/refresh-token-store.js";
