/**
 * The port of the accounts that persons have at providers, such as Google. `DatabaseProviderAccounts` of `@stagecraft/framework/auth/db` keeps
 * the rows.
 *
 * The key of an account is the issuer and the subject. An address may get to another person, and a name is the application's.
 *
 * A store fails by rejecting, and never reports a failure as a missing row.
 */
import { PROVIDED_BY } from "../di/provided-by.js";
import { hash } from "node:crypto";

export interface ProviderAccount {
  /** As `toAccountId` computes it from issuer and subject. */
  readonly id: string;
  readonly userId: string;
  /** The name of the provider in the application. */
  readonly provider: string;
  readonly issuer: string;
  readonly subject: string;
  /** The latest address from the provider, for the list of a person; `""` without one. No sign-in compares it. */
  readonly email: string;
  /** Milliseconds since the Unix epoch, as all times. */
  readonly createdAt: number;
  readonly lastUsedAt: number;
}

/** The tokens of an account in its row. */
export interface StoredTokens {
  /** Encrypted. */
  readonly tokens: string;
  /** Of the access token; `undefined` if the provider gives none. */
  readonly expiresAt: number | undefined;
  /** Another one after each change. */
  readonly version: number;
}

export interface TokenLease {
  /** The version that the process has read. */
  readonly version: number;
  readonly now: number;
  readonly until: number;
}

export abstract class ProviderAccounts {
  /** @internal */
  static readonly [PROVIDED_BY] = "...authDatabase(AppDatabase)";
  abstract find(id: string): Promise<ProviderAccount | undefined>;

  /** The oldest first. */
  abstract listOfUser(userId: string): Promise<readonly ProviderAccount[]>;

  /** False if the account exists already; nothing has changed then. */
  abstract insert(account: ProviderAccount): Promise<boolean>;

  abstract setUsed(id: string, usage: { readonly email: string; readonly lastUsedAt: number }): Promise<void>;

  /** False if the user has no such account. */
  abstract delete(userId: string, id: string): Promise<boolean>;

  abstract findTokens(id: string): Promise<StoredTokens | undefined>;

  /**
   * Sets or deletes the tokens, and ends their lease. False if the account does not exist, or if the lease that is given is not the current
   * one. An open transaction has no part in it.
   */
  abstract setTokens(
    id: string,
    tokens: Omit<StoredTokens, "version"> | undefined,
    leasedUntil?: number,
  ): Promise<boolean>;

  /** True for one of several processes: nothing has changed since `version`, and no other lease is current. */
  abstract leaseTokens(id: string, lease: TokenLease): Promise<boolean>;

  /** True for one of several callers with the id of an attempt to sign in. An open transaction has no part in it. */
  abstract useAttempt(id: string, times: { readonly now: number; readonly expiresAt: number }): Promise<boolean>;
}

/** The id of the row: 64 lower-case hexadecimal digits. */
export function toAccountId(issuer: string, subject: string): string {
  return hash("sha256", JSON.stringify([issuer, subject]));
}
