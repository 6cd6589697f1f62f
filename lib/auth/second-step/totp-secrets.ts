/**
 * The port of the secrets that users share with their authenticator apps. `DatabaseTotpSecrets` of `@stagecraft/framework/auth/db` keeps the
 * rows. A secret is encrypted by a key that the database does not have.
 *
 * A store fails by rejecting, and never reports a failure as a missing row.
 */
import { PROVIDED_BY } from "../../di/provided-by.js";
export interface TotpSecret {
  readonly userId: string;
  /** Encrypted, with the user as context. Compared character by character. */
  readonly secret: string;
  /** The step of the last code that was accepted: a code of this step or of an earlier one counts no more. */
  readonly lastStep: number;
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number;
}

/** The use of a code. */
export interface TotpUse {
  readonly step: number;
  /** The secret from now on: the same, encrypted by the first key. */
  readonly secret: string;
}

export abstract class TotpSecrets {
  /** @internal */
  static readonly [PROVIDED_BY] = "...authDatabase(AppDatabase)";
  abstract find(userId: string): Promise<TotpSecret | undefined>;

  /** False if the user has a secret already; nothing has changed then. */
  abstract insert(secret: TotpSecret): Promise<boolean>;

  /**
   * Uses a code, in one statement: false if the row has this step or a later one by now, or another secret, or does not exist. Of several
   * callers one succeeds. An open transaction has no part in it.
   */
  abstract use(found: TotpSecret, use: TotpUse): Promise<boolean>;

  /** False without a secret. */
  abstract delete(userId: string): Promise<boolean>;
}
