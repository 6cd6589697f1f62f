/**
 * The stores of an identity in a database of the application, as a list of bindings: each port of `@stagecraft/framework/auth` and its
 * table. The tables come with `authMigrations`.
 *
 * @example
 * providers: [
 *   provide(AppDatabase).useFactory(() => new AppDatabase(sqlite("app.db"), { migrations: [authMigrations], migrate: true })),
 *   AppUsers,
 *   ...authentication({ users: AppUsers, keys: settings.authKey }),
 *   ...authDatabase(AppDatabase),
 * ]
 */
import type { Database } from "../../db/database.js";
import { type Binding, provide } from "../../di/provide.js";
import type { InjectionToken } from "../../di/token.js";
import { Identities } from "../identities.js";
import { RefreshTokenStore } from "../jwt/refresh-token-store.js";
import { PasskeyStore } from "../passkey-store.js";
import { ProviderAccounts } from "../provider-accounts.js";
import { RememberTokens } from "../remember/remember-tokens.js";
import { RecoveryCodes } from "../second-step/recovery-codes.js";
import { TotpSecrets } from "../second-step/totp-secrets.js";
import { SingleUseLinks } from "../links/single-use-links.js";
import { ApiTokenStore } from "../tokens/api-token-store.js";
import { DatabaseApiTokens } from "./database-api-tokens.js";
import { DatabaseIdentities } from "./database-identities.js";
import { DatabaseLinks } from "./database-links.js";
import { DatabasePasskeys } from "./database-passkeys.js";
import { DatabaseProviderAccounts } from "./database-provider-accounts.js";
import { DatabaseRecoveryCodes } from "./database-recovery-codes.js";
import { DatabaseRefreshTokens } from "./database-refresh-tokens.js";
import { DatabaseRememberTokens } from "./database-remember-tokens.js";
import { DatabaseTotpSecrets } from "./database-totp-secrets.js";

/** @param database the class of the database, which the application provides */
export function authDatabase<Tables>(database: InjectionToken<Database<Tables>>): readonly Binding[] {
  return [
    provide(Identities).useFactory((resolve) => new DatabaseIdentities(resolve(database))),
    provide(RememberTokens).useFactory((resolve) => new DatabaseRememberTokens(resolve(database))),
    provide(SingleUseLinks).useFactory((resolve) => new DatabaseLinks(resolve(database))),
    provide(TotpSecrets).useFactory((resolve) => new DatabaseTotpSecrets(resolve(database))),
    provide(PasskeyStore).useFactory((resolve) => new DatabasePasskeys(resolve(database))),
    provide(ProviderAccounts).useFactory((resolve) => new DatabaseProviderAccounts(resolve(database))),
    provide(RecoveryCodes).useFactory((resolve) => new DatabaseRecoveryCodes(resolve(database))),
    provide(RefreshTokenStore).useFactory((resolve) => new DatabaseRefreshTokens(resolve(database))),
    provide(ApiTokenStore).useFactory((resolve) => new DatabaseApiTokens(resolve(database))),
  ];
}
