/**
 * The port of the devices that stay signed in when their session has ended. A row holds no token: a key that the database does not have
 * computes it, so a stolen table opens no session. `DatabaseRememberTokens` of `@stagecraft/framework/auth/db` keeps the rows.
 *
 * A store fails by rejecting, and never reports a failure as a missing row.
 */
import { PROVIDED_BY } from "../../di/provided-by.js";
import type { Rotation } from "../rotated-token.js";
import type { SignInMethod } from "../session-identity.js";
import type { SignInDevice } from "../sign-in/device.js";

export interface RememberToken extends SignInDevice {
  /** 32 lower-case hexadecimal digits. */
  readonly selector: string;
  readonly userId: string;
  readonly signInId: string;
  /** The stamp of the identity at the sign-in. A changed password ends the token. */
  readonly stamp: string;
  /** How the person signed in. */
  readonly method: SignInMethod;
  /** The number of the token that is valid now. */
  readonly generation: number;
  /** Milliseconds since the Unix epoch, as all times. */
  readonly createdAt: number;
  readonly rotatedAt: number;
  readonly expiresAt: number;
}

export type RememberRotation = Rotation;

/** Tokens of a user: those of one sign-in, or all but those. Without either, all. */
export interface RememberScope {
  readonly only?: string;
  readonly except?: string | undefined;
}

export abstract class RememberTokens {
  /** @internal */
  static readonly [PROVIDED_BY] = "...authDatabase(AppDatabase)";
  abstract insert(token: RememberToken): Promise<void>;

  /** The row, unless it has expired. */
  abstract find(selector: string, now: number): Promise<RememberToken | undefined>;

  /** False if the row has another generation by now, or does not exist. Of several callers one succeeds. An open transaction has no part in it. */
  abstract rotate(selector: string, rotation: RememberRotation): Promise<boolean>;

  abstract delete(selector: string): Promise<void>;

  /** Returns the number of rows. */
  abstract deleteOfUser(userId: string, scope?: RememberScope): Promise<number>;

  /** At most a thousand, those used last first, without expired ones. */
  abstract listOfUser(userId: string, now: number): Promise<readonly RememberToken[]>;
}
