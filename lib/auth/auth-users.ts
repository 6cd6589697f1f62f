/**
 * The users of the application, as the flows see them. The application extends it over its table of users.
 *
 * @example
 * class AppUsers extends AuthUsers {
 *   private readonly db = inject(AppDatabase);
 *
 *   async create({ email, data }: NewUser) {
 *     const id = randomUUID();
 *     await this.db.query.insertInto("users").values({ id, email, name: readName(data) }).execute();
 *     return id;
 *   }
 * }
 */

/** A person who has confirmed the sign-up. */
export interface NewUser {
  /** In its normal form, and verified. */
  readonly email: string;
  /** The value that the sign-up was given, after its way through JSON: a form may have chosen it, so check it. */
  readonly data: unknown;
}

export abstract class AuthUsers {
  /**
   * Creates the user of a confirmed sign-up, and returns the id: 1 to 64 characters. It runs in the transaction that creates the identity,
   * and again if that conflicts with another one.
   */
  abstract create(user: NewUser): Promise<string>;

  /** Deletes the user of an account that `AccountDeletion` deletes, in the same transaction. Unless overridden it does nothing. */
  delete(_userId: string): Promise<void> {
    return Promise.resolve();
  }

  /** The roles of `role(…)`; none unless overridden. */
  getRoles(_userId: string): Promise<readonly string[]> {
    return Promise.resolve([]);
  }

  /**
   * False for a password that somebody may not choose, such as a common one: a 422. The framework has compared its length. True unless
   * overridden.
   *
   * @param email of the person, in its normal form
   */
  isPasswordAllowed(_password: string, _email: string): boolean | Promise<boolean> {
    return true;
  }

  /** False for a user who is deactivated: no sign-in succeeds, and open sessions end within a minute. True unless overridden. */
  canSignIn(_userId: string): Promise<boolean> {
    return Promise.resolve(true);
  }
}
