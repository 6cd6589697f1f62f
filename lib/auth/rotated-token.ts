/**
 * A token that each use replaces: `<selector>.<generation>.<mac>`. The MAC covers the selector and the generation, so a client cannot invent a
 * token, the store has none, and the successor of a token is computed: each of many requests at the same time gives the same one.
 */
import { createHmac, type KeyObject, randomBytes } from "node:crypto";
import { deriveKey, readKeys } from "../crypto/derived-key.js";
import type { SecretKeyMaterial } from "../errors/secret-keys.js";
import { isSame } from "../runtime/same-text.js";

/** A token that this application has signed. */
export interface ReceivedToken {
  readonly selector: string;
  readonly generation: number;
}

/** The time in which the token before the current one counts, and in which the current one is not replaced again. */
const GRACE_MS = 60_000;
const FORM = /^([\da-f]{32})\.(0|[1-9]\d{0,8})\.([\w-]{43})$/;

export class RotatedTokens {
  // Not `private`: printing the object would show the keys.
  readonly #keys: readonly [KeyObject, ...(readonly KeyObject[])];

  /** @param keys the first signs, all verify */
  constructor(keys: SecretKeyMaterial, purpose: string) {
    const [first, ...others] = readKeys(keys);
    this.#keys = [deriveKey(first, purpose), ...others.map((key) => deriveKey(key, purpose))];
  }

  static createSelector(): string {
    return randomBytes(16).toString("hex");
  }

  format({ selector, generation }: ReceivedToken): string {
    const text = `${selector}.${generation}`;
    return `${text}.${computeMac(this.#keys[0], text)}`;
  }

  /** `undefined` for a missing, truncated, changed or foreign one. */
  parse(given: string): ReceivedToken | undefined {
    const [, selector = "", generation = "", mac = ""] = FORM.exec(given) ?? [];
    const text = `${selector}.${generation}`;
    const isValid = this.#keys.some((key) => isSame(computeMac(key, text), mac));
    return isValid ? { selector, generation: Number(generation) } : undefined;
  }
}

interface RotatedRow {
  readonly selector: string;
  /** The number of the token that is valid now. */
  readonly generation: number;
  readonly rotatedAt: number;
}

export interface Rotation {
  /** The generation until now. The next one is higher by 1. */
  readonly from: number;
  readonly rotatedAt: number;
  readonly expiresAt: number;
}

interface RotatedStore {
  find(selector: string, now: number): Promise<RotatedRow | undefined>;
  rotate(selector: string, rotation: Rotation): Promise<boolean>;
}

/** The generation that the holder uses next; `undefined` for a token that counts no more; `copy` for one whose successor was used. */
export async function rotateToken(
  store: RotatedStore,
  { selector, generation: current, rotatedAt }: RotatedRow,
  received: ReceivedToken,
  { now, lifetimeMs }: { readonly now: number; readonly lifetimeMs: number },
): Promise<number | "copy" | undefined> {
  const next = received.generation + 1;
  const isRecent = Math.abs(now - rotatedAt) < GRACE_MS;
  if (current === received.generation) {
    if (isRecent) return current;
    const rotation = { from: current, rotatedAt: now, expiresAt: now + lifetimeMs };
    if (await store.rotate(selector, rotation)) return next;
    // Another request was faster.
    return (await store.find(selector, now))?.generation === next ? next : undefined;
  }
  if (current === next && isRecent) return next;
  // A higher generation than the current one is of a table that a backup has restored.
  return current > received.generation ? "copy" : undefined;
}

function computeMac(key: KeyObject, text: string): string {
  return createHmac("sha256", key).update(text).digest("base64url");
}
