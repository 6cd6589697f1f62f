/**
 * The port of the refresh tokens. A row is a family: the tokens that follow each other since one sign-in. It holds no token: a key that the
 * database does not have computes it. `DatabaseRefreshTokens` of `@stagecraft/framework/auth/db` keeps the rows.
 *
 * A store fails by rejecting, and never reports a failure as a missing row.
 */
import { PROVIDED_BY } from "../../di/provided-by.js";
import type { Rotation } from "../rotated-token.js";

export interface RefreshFamily {
  /** 32 lower-case hexadecimal digits. */
  readonly selector: string;
  /** 1 to 64 characters. */
  readonly subject: string;
  /** At most 255 characters. */
  readonly clientId: string | undefined;
  readonly scopes: readonly string[];
  /** That of the subject at the start. A changed password ends the family. */
  readonly stamp: string;
  /** The number of the token that is valid now. */
  readonly generation: number;
  /** Milliseconds since the Unix epoch, as all times. */
  readonly createdAt: number;
  readonly rotatedAt: number;
  readonly expiresAt: number;
}

export abstract class RefreshTokenStore {
  /** @internal */
  static readonly [PROVIDED_BY] = "...authDatabase(AppDatabase)";
  abstract insert(family: RefreshFamily): Promise<void>;

  /** The row, unless it has expired. */
  abstract find(selector: string, now: number): Promise<RefreshFamily | undefined>;

  /** False if the row has another generation by now, or does not exist. Of several callers one succeeds. An open transaction has no part in it. */
  abstract rotate(selector: string, rotation: Rotation): Promise<boolean>;

  /** Deletes nothing where the row does not exist. An open transaction has no part in it. */
  abstract delete(selector: string): Promise<void>;

  /** Returns the number of rows. */
  abstract deleteOfSubject(subject: string): Promise<number>;
}
