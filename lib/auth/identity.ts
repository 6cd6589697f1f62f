/**
 * An identity: the address and the password by which a person signs in. The user of the application is another row, which the application
 * declares; `userId` ties them. Not for names, roles and settings of a person.
 */
import { toAsciiAddress } from "../mail/address.js";

export interface IdentityValues {
  /** The id of the user in the application, 1 to 64 characters. */
  readonly userId: string;
  /** As `readEmail` returns it. Unique. */
  readonly email: string;
  /** The hash of the password; `undefined` for a person who signs in without one. */
  readonly password: string | undefined;
  /** Changes with the credentials. A session with another stamp ends. */
  readonly stamp: string;
  /** Milliseconds since the Unix epoch; `undefined` until the person has shown that the address is theirs. */
  readonly verifiedAt: number | undefined;
  readonly createdAt: number;
}

export class Identity implements IdentityValues {
  readonly userId: string;
  readonly email: string;
  readonly stamp: string;
  readonly verifiedAt: number | undefined;
  readonly createdAt: number;
  // Not `private`: printing the object would show the hash.
  readonly #password: string | undefined;

  constructor({ userId, email, password, stamp, verifiedAt, createdAt }: IdentityValues) {
    this.userId = userId;
    this.email = email;
    this.stamp = stamp;
    this.verifiedAt = verifiedAt;
    this.createdAt = createdAt;
    this.#password = password;
  }

  get password(): string | undefined {
    return this.#password;
  }

  get isVerified(): boolean {
    return this.verifiedAt !== undefined;
  }
}

/** RFC 5321 section 4.5.3.1.3, without the brackets. */
const MAX_EMAIL_LENGTH = 254;

/**
 * The normal form of an address, with its domain in ASCII: two spellings of one mailbox are one identity. Mails go to this form and never
 * to the spelling of a request, so an address that only looks like that of a person gets no mail of that person. `undefined` for a text
 * that is no address.
 */
export function readEmail(text: string): string | undefined {
  // A JavaScript caller may pass any value.
  if (typeof text !== "string" || text.length > MAX_EMAIL_LENGTH) return undefined;
  return toAsciiAddress(text.trim().normalize("NFKC").toLowerCase());
}
