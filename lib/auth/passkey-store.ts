/**
 * The port of the passkeys. `DatabasePasskeys` of `@stagecraft/framework/auth/db` keeps the rows, which hold no secret: the public key
 * verifies, and only the device of the person signs.
 *
 * A store fails by rejecting, and never reports a failure as a missing row.
 */
import { PROVIDED_BY } from "../di/provided-by.js";

/** `sign-in`: in the place of the password and the second step. `second-step`: after the password alone. */
export type PasskeyUsage = "sign-in" | "second-step";

export interface Passkey {
  /** The SHA-256 of the credential's id, in lower-case hexadecimal digits. */
  readonly id: string;
  readonly userId: string;
  /** In base64url, as the key. */
  readonly credentialId: string;
  readonly publicKey: string;
  /** The number of signatures, as the device counts them; 0 for ever with passkeys that are synchronised. */
  readonly counter: number;
  readonly transports: readonly string[];
  readonly usage: PasskeyUsage;
  readonly name: string;
  /** Milliseconds since the Unix epoch, as all times. */
  readonly createdAt: number;
  readonly lastUsedAt: number | undefined;
}

export interface PasskeyUse {
  /** The counter until now. */
  readonly from: number;
  readonly counter: number;
  /** The SHA-256 of the challenge that was signed, in lower-case hexadecimal digits. */
  readonly challenge: string;
  readonly lastUsedAt: number;
}

export abstract class PasskeyStore {
  /** @internal */
  static readonly [PROVIDED_BY] = "...authDatabase(AppDatabase)";
  abstract find(id: string): Promise<Passkey | undefined>;

  /** The oldest first. */
  abstract listOfUser(userId: string): Promise<readonly Passkey[]>;

  /** False if the passkey exists already; nothing has changed then. */
  abstract insert(passkey: Passkey): Promise<boolean>;

  /**
   * In one statement: false if the counter is another one by now, if the last use was of the same challenge, or if the passkey does not
   * exist. Of several callers with one challenge one succeeds, also where the device counts nothing. An open transaction has no part in it.
   */
  abstract use(id: string, use: PasskeyUse): Promise<boolean>;

  /** False if the user has no such passkey. */
  abstract rename(userId: string, id: string, name: string): Promise<boolean>;

  /** False if the user has no such passkey. */
  abstract delete(userId: string, id: string): Promise<boolean>;
}
