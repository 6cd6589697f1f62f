/**
 * The port of the API tokens. `DatabaseApiTokens` of `@stagecraft/framework/auth/db` keeps them in a table of the application's database.
 * `obeysApiTokenStore` checks every promise below.
 *
 * A store has no text of a token, only its hash. It fails by rejecting, and never reports a failure as a missing token.
 */
import { PROVIDED_BY } from "../../di/provided-by.js";

/** A token without its text: a page may show it, and a log may have it. */
export interface ApiToken {
  /** 32 lower-case hexadecimal digits. */
  readonly id: string;
  readonly userId: string;
  readonly name: string;
  readonly scopes: readonly string[];
  /** Milliseconds since the Unix epoch, as all times. */
  readonly createdAt: number;
  /** The token is valid before this time; `undefined` for one without an end. */
  readonly expiresAt: number | undefined;
  /** The time of the last use, to the minute; `undefined` before the first use. */
  readonly lastUsedAt: number | undefined;
}

/** An API token that is stored. */
export interface NewApiToken {
  readonly token: ApiToken;
  /** 64 lower-case hexadecimal digits. */
  readonly hash: string;
  /** The largest number of tokens of one user, with those that have expired. */
  readonly max: number;
}

export abstract class ApiTokenStore {
  /** @internal */
  static readonly [PROVIDED_BY] = "...authDatabase(AppDatabase)";
  /**
   * False if the user would have more than `max` tokens; nothing has changed then. Of many calls at the same time some may then
   * fail that the number has room for.
   */
  abstract insert(added: NewApiToken): Promise<boolean>;

  /** The token of a hash, also one that has expired and is not deleted yet. */
  abstract findByHash(hash: string): Promise<ApiToken | undefined>;

  /** The tokens of a user, the latest first. */
  abstract listOfUser(userId: string): Promise<readonly ApiToken[]>;

  /** Sets the time of the last use, unless the token was used within `everyMs` before. */
  abstract setUsed(id: string, usedAt: number, everyMs: number): Promise<void>;

  /** False if the user has no such token. */
  abstract delete(userId: string, id: string): Promise<boolean>;

  /** Returns the number of tokens that the user had. */
  abstract deleteOfUser(userId: string): Promise<number>;
}
