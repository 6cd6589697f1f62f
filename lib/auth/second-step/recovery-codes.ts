/**
 * The port of the recovery codes, of which a row has the hash alone. `DatabaseRecoveryCodes` of `@stagecraft/framework/auth/db` keeps the
 * rows.
 *
 * A store fails by rejecting, and never reports a failure as a missing row.
 */
import { PROVIDED_BY } from "../../di/provided-by.js";
export abstract class RecoveryCodes {
  /** @internal */
  static readonly [PROVIDED_BY] = "...authDatabase(AppDatabase)";
  /** Replaces the codes of a user by new ones, or by none. */
  abstract replace(userId: string, hashes: readonly string[]): Promise<void>;

  /** Deletes a code in one statement: true for one caller alone. An open transaction has no part in it. */
  abstract spend(userId: string, hash: string): Promise<boolean>;

  abstract count(userId: string): Promise<number>;
}
