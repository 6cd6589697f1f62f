/**
 * CSRF tokens as text: 64 hexadecimal characters. With a session stage the first half is random and the second half is a MAC over it and
 * the id of the session: a token of another session, or one that a sibling host planted, does not verify. Without a session stage both
 * halves are random.
 *
 * In HTML a token is masked: a new random mask in front, then the token xor the mask. So a page has a different text at each rendering, and
 * the size of a compressed page reveals nothing about the token (BREACH).
 */
import { randomBytes } from "node:crypto";
import { isSame } from "../../runtime/same-text.js";
import type { SessionKeys } from "../session/session-keys.js";

const TOKEN_BYTES = 32;
const HALF_LENGTH = TOKEN_BYTES;
const RAW = /^[\da-f]{64}$/;
const MASKED = /^[\w-]{86}$/;

/** The id in the token of a visitor without a session. */
export const NO_SESSION = "";

export function isCsrfToken(text: string): boolean {
  return RAW.test(text);
}

/** The token in a header or a form field, raw or masked; `undefined` for any other text. */
export function readToken(text: string): string | undefined {
  if (RAW.test(text)) return text;
  if (!MASKED.test(text)) return undefined;
  const bytes = Buffer.from(text, "base64url");
  return xor(bytes.subarray(0, TOKEN_BYTES), bytes.subarray(TOKEN_BYTES)).toString("hex");
}

export function maskToken(token: string): string {
  const mask = randomBytes(TOKEN_BYTES);
  return Buffer.concat([mask, xor(mask, Buffer.from(token, "hex"))]).toString("base64url");
}

/** @param keys `undefined` without a session stage */
export class TokenMaker {
  constructor(private readonly keys: SessionKeys | undefined) {}

  /** A new token for the session; `NO_SESSION`: for a visitor without one. */
  create(id: string): string {
    if (this.keys === undefined) return randomBytes(TOKEN_BYTES).toString("hex");
    return this.bind(randomBytes(TOKEN_BYTES / 2).toString("hex"), id);
  }

  /**
   * The token for another id. A visitor who had no session before keeps the random half, so that forms in other tabs stay valid. Any other
   * token is replaced by a new one.
   */
  rebind(token: string, id: string): string {
    if (this.keys === undefined) return token;
    return this.isBound(token, NO_SESSION) ? this.bind(token.slice(0, HALF_LENGTH), id) : this.create(id);
  }

  /** Whether the token belongs to the session. A visitor without a session may have any token: there is nothing to protect yet. */
  isValid(token: string, id: string): boolean {
    return this.keys === undefined || id === NO_SESSION || this.isBound(token, id);
  }

  /**
   * Whether the token of a request is that of its cookie. A form from before the session has the same random half, and the MAC for no
   * session.
   */
  matches(cookie: string, given: string): boolean {
    if (isSame(cookie, given)) return true;
    if (this.keys === undefined) return false;
    const isSameHalf = isSame(cookie.slice(0, HALF_LENGTH), given.slice(0, HALF_LENGTH));
    return isSameHalf && this.isBound(given, NO_SESSION);
  }

  /**
   * Whether this application created the token for a visitor without a session. False without a session stage, because only its keys can
   * prove it.
   */
  isOfFirstVisit(token: string): boolean {
    return this.keys !== undefined && this.isBound(token, NO_SESSION);
  }

  private bind(random: string, id: string): string {
    return random + (this.keys?.tag(toSignedText(random, id)) ?? "");
  }

  private isBound(token: string, id: string): boolean {
    const random = token.slice(0, HALF_LENGTH);
    return this.keys?.hasTag(toSignedText(random, id), token.slice(HALF_LENGTH)) ?? true;
  }
}

function toSignedText(random: string, id: string): string {
  return `csrf ${id} ${random}`;
}

function xor(one: Buffer, other: Buffer): Buffer {
  return Buffer.from(one.map((byte, at) => byte ^ (other[at] ?? 0)));
}
