/**
 * The secret keys of the sessions: they sign the ids in cookies and bind CSRF tokens to ids. The first key signs, all of them verify, so a
 * key can be replaced without signing visitors out: put the new key in front and remove the old one after the absolute lifetime.
 */
import { createHmac, type KeyObject } from "node:crypto";
import { parseSecretKeys, type SecretKeyMaterial } from "../../errors/secret-keys.js";
import { isSame } from "../../runtime/same-text.js";

const TAG_LENGTH = 32;
const NAMES = { code: "E_SESSION_KEY", name: "a session key", variable: "SESSION_KEY" };

export class SessionKeys {
  // Key objects of Node, whose bytes no inspection prints.
  private readonly keys: readonly KeyObject[];
  private readonly first: KeyObject;

  /** @throws FrameworkError `E_SESSION_KEY`, without the key */
  constructor(material: SecretKeyMaterial) {
    const keys = parseSecretKeys(material, NAMES);
    this.keys = keys;
    [this.first] = keys;
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
