/**
 * The port of the identities. `DatabaseIdentities` of `@stagecraft/framework/auth/db` keeps them in a table of the application's database.
 * `obeysIdentities` checks every promise below.
 *
 * Addresses are compared character by character: they are in their normal form already. A store fails by rejecting, and never reports a
 * failure as a missing identity.
 */
import { PROVIDED_BY } from "../di/provided-by.js";
import type { Identity, IdentityValues } from "./identity.js";

/** A change of the password. Of two changes from one stamp, only the first takes effect. */
export interface PasswordReplacement {
  /** The stamp that the identity has until now. */
  readonly from: string;
  /** The new hash. */
  readonly password: string;
  /** The stamp that the identity has from now on. */
  readonly stamp: string;
}

/** A change of the stamp alone. Of two changes from one stamp, only the first takes effect. */
export type StampReplacement = Omit<PasswordReplacement, "password">;

export abstract class Identities {
  /** @internal */
  static readonly [PROVIDED_BY] = "...authDatabase(AppDatabase)";
  abstract find(userId: string): Promise<Identity | undefined>;

  abstract findByEmail(email: string): Promise<Identity | undefined>;

  /** False if the address or the user has an identity already; nothing has changed then. */
  abstract insert(identity: IdentityValues): Promise<boolean>;

  /** False if the identity has another stamp by now, or does not exist. */
  abstract setPassword(userId: string, replacement: PasswordReplacement): Promise<boolean>;

  /** False if the identity has another stamp by now, or does not exist. */
  abstract setStamp(userId: string, replacement: StampReplacement): Promise<boolean>;

  /** Sets an address that is verified. False if another identity has the address, or this one does not exist. */
  abstract setEmail(userId: string, email: string, verifiedAt: number): Promise<boolean>;

  /** Verifies the address of an identity whose address is not verified yet. */
  abstract setVerified(userId: string, verifiedAt: number): Promise<void>;

  /**
   * Deletes the identity and what the store has besides: in a database its links, remembered devices, second steps, passkeys, accounts at
   * providers, API tokens and refresh tokens. Without an identity it deletes these alone. Sessions end within a minute; `SignIns.endAll`
   * ends them at once.
   */
  abstract delete(userId: string): Promise<void>;

  /**
   * Runs the work in one transaction, which the queries of `AuthUsers` on the same database join. If the work throws, nothing has changed. A
   * store may run it again after a conflict with another transaction.
   */
  abstract transaction<T>(work: () => Promise<T>): Promise<T>;
}
