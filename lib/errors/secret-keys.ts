/**
 * The secret keys of a setting, such as those of the sessions: key objects of Node, whose bytes no inspection prints. Several keys make it
 * possible to replace one: the first key creates, and all of them are accepted.
 *
 * Not for passwords and tokens of other services, which are texts: `variable.text().secret()`.
 *
 * @example
 * const [first, ...others] = parseSecretKeys(material, { code: "E_CRYPTO_KEY", name: "a key", variable: "APP_KEY" });
 */
import { createSecretKey, KeyObject } from "node:crypto";
import { createSetupError } from "./setup-error.js";

/** 64 bytes, or their 128 hexadecimal characters, or a secret `KeyObject` of 64 bytes. */
export type SecretKey = string | Uint8Array | KeyObject;

/** One key or several, the current one first. `variable.keys()` reads them from the environment. */
export type SecretKeyMaterial = SecretKey | readonly SecretKey[];

/** The error about keys that cannot work. */
interface KeyNames {
  readonly code: string;
  /** With its article: `a session key`. */
  readonly name: string;
  /** The environment variable of the advice. */
  readonly variable: string;
}

const KEY_BYTES = 64;
const HEX = /^[\da-f]{128}$/i;

/** How to create a key, for the advice of an error. */
export const KEY_COMMAND = `node -p 'crypto.randomBytes(${KEY_BYTES}).toString("hex")'`;

/** @throws FrameworkError with the code and without the key, if there is no key or one is wrong */
export function parseSecretKeys(
  material: SecretKeyMaterial,
  names: KeyNames,
): readonly [KeyObject, ...(readonly KeyObject[])] {
  // A JavaScript caller may pass any value.
  const list: readonly unknown[] = Array.isArray(material) ? material : [material];
  const [first, ...others] = list.map((each) => findSecretKey(each) ?? throwKeyError(describe(each), names));
  return first === undefined ? throwKeyError("an empty list", names) : [first, ...others];
}

/** `undefined` for a value that is no key. */
export function findSecretKey(material: unknown): KeyObject | undefined {
  if (typeof material === "string" && HEX.test(material)) return createSecretKey(Buffer.from(material, "hex"));
  if (material instanceof Uint8Array && material.length === KEY_BYTES) return createSecretKey(material);
  return material instanceof KeyObject && material.symmetricKeySize === KEY_BYTES ? material : undefined;
}

/** Describes the given value, and never shows the key. */
function describe(material: unknown): string {
  if (material instanceof Uint8Array) return `${material.length} bytes`;
  if (material instanceof KeyObject) return `a ${material.type} key of ${material.symmetricKeySize ?? "other"} bytes`;
  if (typeof material !== "string") return material === null ? "null" : `a value of type ${typeof material}`;
  return /^[\da-f]*$/i.test(material)
    ? `${material.length} characters`
    : `${material.length} characters, of which some are not hexadecimal`;
}

function throwKeyError(given: string, { code, name, variable }: KeyNames): never {
  throw createSetupError(
    code,
    `${name} is ${KEY_BYTES} random bytes or their ${KEY_BYTES * 2} hexadecimal characters, and not ${given}: ` +
      `make one with ${KEY_COMMAND}, and set it as ${variable}`,
  );
}
