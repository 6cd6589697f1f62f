/**
 * The cookie of a session: `<id>.<mac>`. The id is 128 random bits; the MAC covers the name of the cookie and the id, so a client cannot
 * invent an id, and the store is never asked for an id that this application did not sign. The cookie holds nothing else.
 *
 * This class writes the `Set-Cookie` line. `saveSession` of `session-save.ts` decides whether the response needs one, and `SessionLayer`
 * calls `write` with that decision before the head is sent.
 */
import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import { addSetCookie, formatAttributes, readCookieValues, type CookieAttributes } from "../../http/request/cookie.js";
import type { SessionKeys } from "./session-keys.js";

const ID_BYTES = 16;
const ID_LENGTH = 22;
const MAC_LENGTH = 43;
const DOT = 0x2e;

/** A request that sends the name more often is forged. */
const MAX_VALUES = 4;

/** The cookie that the browser needs after a save. @internal */
export type SaveResult =
  | { readonly kind: "nothing" }
  /** The session has this id, which is new or whose time was extended. */
  | { readonly kind: "cookie"; readonly id: string; readonly isNew: boolean; readonly maxAgeMs: number }
  | { readonly kind: "deletion" };

export class SessionCookie {
  private readonly suffix: string;
  /** The `Set-Cookie` line that deletes the cookie. */
  private readonly deletion: string;

  constructor(
    /** Those of other cookies of the framework follow them. @internal */
    readonly attributes: CookieAttributes,
    private readonly keys: SessionKeys,
  ) {
    this.suffix = formatAttributes(attributes);
    this.deletion = `${attributes.name}=; Max-Age=0${this.suffix}`;
  }

  static createId(): string {
    return randomBytes(ID_BYTES).toString("base64url");
  }

  /** The id of the first cookie with a valid MAC; `undefined` for a missing, truncated, changed or foreign one. */
  read(header: string | undefined): string | undefined {
    for (const value of readCookieValues(header, this.attributes.name, MAX_VALUES)) {
      if (value.length !== ID_LENGTH + 1 + MAC_LENGTH || value.charCodeAt(ID_LENGTH) !== DOT) continue;
      const id = value.slice(0, ID_LENGTH);
      if (this.keys.verifies(this.toSignedText(id), value.slice(ID_LENGTH + 1))) return id;
    }
    return undefined;
  }

  /** Writes the `Set-Cookie` line of the result; none if nothing was saved. */
  write(raw: ServerResponse, result: SaveResult): void {
    if (result.kind === "cookie") addSetCookie(raw, this.formatSetCookie(result.id, result.maxAgeMs));
    else if (result.kind === "deletion") addSetCookie(raw, this.deletion);
  }

  /** The `Set-Cookie` line. @param maxAgeMs rounded up to seconds: the store decides when the session ends */
  formatSetCookie(id: string, maxAgeMs: number): string {
    const maxAge = Math.max(0, Math.ceil(maxAgeMs / 1000));
    return `${this.attributes.name}=${id}.${this.keys.sign(this.toSignedText(id))}; Max-Age=${maxAge}${this.suffix}`;
  }

  private toSignedText(id: string): string {
    return `${this.attributes.name}=${id}`;
  }
}
