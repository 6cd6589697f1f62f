/**
 * The secret keys of the sessions: they sign the ids in cookies and bind CSRF tokens to ids. The first key signs, all of them verify, so a
 * key can be replaced without signing visitors out: put the new key in front and remove the old one after the absolute lifetime.
 */
import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from "node:crypto";
import type { FrameworkError } from "../../errors/framework-error.js";
import { createSetupError } from "../../errors/setup-error.js";

/** 64 bytes, or their 128 hexadecimal characters; or several of these, the current one first. */
export type SessionKeyMaterial = string | Uint8Array | readonly (string | Uint8Array)[];

const KEY_BYTES = 64;
const TAG_LENGTH = 32;
const HEX = /^[\da-f]{128}$/i;

export class SessionKeys {
  // Key objects of Node, whose bytes no inspection prints.
  private readonly keys: readonly KeyObject[];
  private readonly first: KeyObject;

  /** @throws FrameworkError `E_SESSION_KEY`, without the key */
  constructor(material: SessionKeyMaterial) {
    const list = typeof material === "string" || material instanceof Uint8Array ? [material] : material;
    this.keys = Array.isArray(list) ? list.map(parseKey) : [parseKey(list)];
    const [first] = this.keys;
    if (first === undefined) throw keyError("an empty list");
    this.first = first;
  }

  /** The MAC of a text under the current key: HMAC-SHA256 in base64url, 43 characters. */
  sign(text: string): string {
    return computeMac(this.first, text);
  }

  /** Whether `mac` is the MAC of the text under one of the keys. The time does not depend on the position of a difference. */
  verifies(text: string, mac: string): boolean {
    for (const key of this.keys) if (isSame(computeMac(key, text), mac)) return true;
    return false;
  }

  /** A shorter MAC for tokens: 128 bits in hexadecimal, 32 characters. */
  tag(text: string): string {
    return computeTag(this.first, text);
  }

  hasTag(text: string, tag: string): boolean {
    for (const key of this.keys) if (isSame(computeTag(key, text), tag)) return true;
    return false;
  }
}

function computeMac(key: KeyObject, text: string): string {
  return createHmac("sha256", key).update(text).digest("base64url");
}

function computeTag(key: KeyObject, text: string): string {
  return createHmac("sha256", key).update(text).digest("hex").slice(0, TAG_LENGTH);
}

/**
 * Compares texts, not bytes: the last character of base64url has spare bits, and only one spelling is accepted. The second comparison is
 * for characters beyond Latin-1, and runs only if the first one found no difference.
 */
export function isSame(expected: string, given: string): boolean {
  if (expected.length !== given.length) return false;
  return timingSafeEqual(Buffer.from(expected, "latin1"), Buffer.from(given, "latin1")) && expected === given;
}

function parseKey(material: unknown): KeyObject {
  if (typeof material === "string" && HEX.test(material)) return createSecretKey(Buffer.from(material, "hex"));
  if (material instanceof Uint8Array && material.length === KEY_BYTES) return createSecretKey(material);
  throw keyError(describe(material));
}

/** Describes the given value, and never shows the key. */
function describe(material: unknown): string {
  if (material instanceof Uint8Array) return `${material.length} bytes`;
  if (typeof material !== "string") return material === null ? "null" : `a value of type ${typeof material}`;
  return /^[\da-f]*$/i.test(material)
    ? `${material.length} characters`
    : `${material.length} characters, of which some are not hexadecimal`;
}

function keyError(given: string): FrameworkError {
  return createSetupError(
    "E_SESSION_KEY",
    `a session key is ${KEY_BYTES} random bytes or their ${KEY_BYTES * 2} hexadecimal characters, and not ${given}: ` +
      `make one with node -p 'crypto.randomBytes(${KEY_BYTES}).toString("hex")', and set it as SESSION_KEY`,
  );
}
