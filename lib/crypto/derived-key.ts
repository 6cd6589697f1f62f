/** Keys for one purpose each, derived from the keys of the application. For the classes of this folder. */
import { createSecretKey, hkdfSync, type KeyObject } from "node:crypto";
import { parseSecretKeys, type SecretKeyMaterial } from "../errors/secret-keys.js";

const NAMES = { code: "E_CRYPTO_KEY", name: "a key", variable: "APP_KEY" };

/** @throws FrameworkError `E_CRYPTO_KEY`, without the key */
export function readKeys(material: SecretKeyMaterial): readonly [KeyObject, ...(readonly KeyObject[])] {
  return parseSecretKeys(material, NAMES);
}

/**
 * A key of 32 bytes for one purpose (HKDF, RFC 5869). The keys of different purposes do not tell each other, so that one key of the
 * application serves the sessions, the signed URLs and the encrypted values.
 */
export function deriveKey(key: KeyObject, purpose: string): KeyObject {
  return createSecretKey(deriveBytes(key, purpose, 32));
}

export function deriveBytes(key: KeyObject, purpose: string, length: number): Buffer {
  return Buffer.from(hkdfSync("sha256", key, "", purpose, length));
}
