/**
 * The port of the links that a mail carries and that work once. A row holds no link: its URL is signed when the mail is written, with a key
 * that the database does not have. `DatabaseLinks` of `@stagecraft/framework/auth/db` keeps the rows. `obeysSingleUseLinks` checks every
 * promise below.
 */
import { PROVIDED_BY } from "../../di/provided-by.js";
import { randomBytes } from "node:crypto";

/** The flow that a link belongs to. A link of one flow is none of another. */
export type LinkPurpose = "sign-up" | "sign-in" | "reset" | "email";

export interface LinkValues {
  /** 32 lower-case hexadecimal digits. */
  readonly id: string;
  readonly purpose: LinkPurpose;
  /** `undefined` for a sign-up, which has no user yet. */
  readonly userId?: string | undefined;
  /** The address that the mail goes to, in its normal form. */
  readonly email: string;
  /** The stamp of the identity when the link was created. */
  readonly stamp?: string | undefined;
  /** The hash of the password of a sign-up. */
  readonly password?: string | undefined;
  /** The data of a sign-up, as JSON keeps it. */
  readonly data?: unknown;
  /** The last millisecond in which the link is valid, since the Unix epoch. */
  readonly expiresAt: number;
}

export class SingleUseLink implements LinkValues {
  readonly id: string;
  readonly purpose: LinkPurpose;
  readonly userId: string | undefined;
  readonly email: string;
  readonly stamp: string | undefined;
  readonly data: unknown;
  readonly expiresAt: number;
  // Not `private`: printing the object would show the hash.
  readonly #password: string | undefined;

  constructor({ id, purpose, userId, email, stamp, password, data, expiresAt }: LinkValues) {
    this.id = id;
    this.purpose = purpose;
    this.userId = userId;
    this.email = email;
    this.stamp = stamp;
    this.data = data;
    this.expiresAt = expiresAt;
    this.#password = password;
  }

  get password(): string | undefined {
    return this.#password;
  }
}

export abstract class SingleUseLinks {
  /** @internal */
  static readonly [PROVIDED_BY] = "...authDatabase(AppDatabase)";
  abstract add(link: LinkValues): Promise<void>;

  /** The link, if it is valid. It is not spent. */
  abstract find(id: string, purpose: LinkPurpose, now: number): Promise<SingleUseLink | undefined>;

  /** Deletes a valid link in one step, and returns it to one caller alone. In a transaction that rolls back, the link is valid again. */
  abstract spend(id: string, purpose: LinkPurpose, now: number): Promise<SingleUseLink | undefined>;

  /** Deletes the links of a user, of all purposes. */
  abstract deleteOfUser(userId: string): Promise<void>;

  /** Deletes the sign-ups of an address. */
  abstract deleteSignUps(email: string): Promise<void>;
}

/** 128 random bits. */
export function createLinkId(): string {
  return randomBytes(16).toString("hex");
}
