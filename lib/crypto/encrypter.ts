/**
 * Encrypted texts and bytes, for cookies and columns: AES-256-GCM (NIST SP 800-38D), so that a value is secret and cannot be changed. The
 * form is base64url: a version, the id of the key, a random nonce, the encrypted bytes and the tag.
 *
 * Not for passwords, which are hashed, and not for columns that a query must find by value: equal values have different texts.
 *
 * @example
 * const encrypter = new Encrypter(settings.APP_KEY);
 * const iban = encrypter.encrypt("DE02120300000000202051", { context: "accounts.iban" });
 * encrypter.decrypt(iban, { context: "accounts.iban" }); // "DE02120300000000202051"
 * encrypter.decrypt(iban, { context: "accounts.tax_id" }); // undefined
 */
import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from "node:crypto";
import { FrameworkError } from "../errors/framework-error.js";
import type { SecretKeyMaterial } from "../errors/secret-keys.js";
import { deriveBytes, deriveKey, readKeys } from "./derived-key.js";

export interface EncryptOptions {
  /**
   * The place of the value, such as the column or the name of the cookie, and of a row its id: a value is decrypted only with the context
   * with which it was encrypted. It is not secret and not part of the text. Empty unless set.
   */
  readonly context?: string;
}

export type DecryptOptions = EncryptOptions;

interface EncryptionKey {
  readonly id: Buffer;
  readonly key: KeyObject;
}

/** The largest content, in bytes: the whole value is in memory. */
const MAX_CONTENT_BYTES = 1_048_576;
const PURPOSE = "stagecraft encrypted value 1";
const VERSION = Buffer.from([1]);
const ID_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = VERSION.length + ID_BYTES;
const MIN_BYTES = HEAD_BYTES + NONCE_BYTES + TAG_BYTES;
const MAX_TEXT_LENGTH = Math.ceil(((MIN_BYTES + MAX_CONTENT_BYTES) * 4) / 3);

/** The key of a value, the value in its parts, and its context: all that the tag covers. */
interface Sealed {
  readonly key: KeyObject;
  readonly head: Buffer;
  readonly nonce: Buffer;
  readonly context: string;
}

export class Encrypter {
  private readonly keys: readonly [EncryptionKey, ...(readonly EncryptionKey[])];

  /**
   * @param keys the first encrypts, all decrypt. Random nonces allow 2^32 values under one key (NIST SP 800-38D section 8.3)
   * @throws FrameworkError `E_CRYPTO_KEY`, without the key
   */
  constructor(keys: SecretKeyMaterial) {
    const [first, ...others] = readKeys(keys);
    this.keys = [toEncryptionKey(first), ...others.map(toEncryptionKey)];
  }

  /**
   * The encrypted text. A text of n bytes becomes one of 44 characters and 4 for each 3 bytes.
   *
   * @param content at most 1 MiB
   * @throws FrameworkError `E_ENCRYPT`, without the content: it is too large, or a text with half of a surrogate pair, which UTF-8 cannot hold
   */
  encrypt(content: string | Uint8Array, { context = "" }: EncryptOptions = {}): string {
    const bytes = toBytes(content);
    const { id, key } = this.keys[0];
    const sealed: Sealed = { key, head: Buffer.concat([VERSION, id]), nonce: randomBytes(NONCE_BYTES), context };
    const cipher = createCipheriv("aes-256-gcm", key, sealed.nonce).setAAD(toAdditionalData(sealed));
    const encrypted = [cipher.update(bytes), cipher.final()];
    return Buffer.concat([sealed.head, sealed.nonce, ...encrypted, cipher.getAuthTag()]).toString("base64url");
  }

  /** The text; `undefined` for every value that `encrypt` has not created from a text, with one of the keys and this context. Never throws. */
  decrypt(encrypted: string | undefined, options?: DecryptOptions): string | undefined {
    const bytes = this.decryptBytes(encrypted, options);
    return bytes === undefined ? undefined : readUtf8(bytes);
  }

  /** As `decrypt`, for content that is no text. */
  decryptBytes(encrypted: string | undefined, { context = "" }: DecryptOptions = {}): Uint8Array | undefined {
    const bytes = parseEncrypted(encrypted);
    if (bytes === undefined) return undefined;
    const head = bytes.subarray(0, HEAD_BYTES);
    const nonce = bytes.subarray(HEAD_BYTES, HEAD_BYTES + NONCE_BYTES);
    for (const { key } of this.findKeys(bytes)) {
      const content = open({ key, head, nonce, context }, bytes.subarray(HEAD_BYTES + NONCE_BYTES));
      if (content !== undefined) return content;
    }
    return undefined;
  }

  /** Whether the value names another key than the first one: encrypt its content again, and the old key can go. False for a value that is none. */
  needsReencrypt(encrypted: string | undefined): boolean {
    const bytes = parseEncrypted(encrypted);
    return bytes !== undefined && !hasId(bytes, this.keys[0]);
  }

  private findKeys(bytes: Buffer): readonly EncryptionKey[] {
    return this.keys.filter((key) => hasId(bytes, key));
  }
}

function toEncryptionKey(key: KeyObject): EncryptionKey {
  return { id: deriveBytes(key, `${PURPOSE} key id`, ID_BYTES), key: deriveKey(key, PURPOSE) };
}

/** The id tells which of several keys to try, and nothing about the key. */
function hasId(bytes: Buffer, { id }: EncryptionKey): boolean {
  return bytes.subarray(VERSION.length, HEAD_BYTES).equals(id);
}

/** `undefined` unless the text has the form: base64url in its one spelling, the version, the lengths. */
function parseEncrypted(encrypted: unknown): Buffer | undefined {
  if (typeof encrypted !== "string" || encrypted.length > MAX_TEXT_LENGTH) return undefined;
  const bytes = Buffer.from(encrypted, "base64url");
  const isOurs = bytes.length >= MIN_BYTES && bytes.subarray(0, VERSION.length).equals(VERSION);
  return isOurs && bytes.toString("base64url") === encrypted ? bytes : undefined;
}

/** @param rest the encrypted bytes and the tag */
function open(sealed: Sealed, rest: Buffer): Buffer | undefined {
  const decipher = createDecipheriv("aes-256-gcm", sealed.key, sealed.nonce, { authTagLength: TAG_BYTES })
    .setAAD(toAdditionalData(sealed))
    .setAuthTag(rest.subarray(-TAG_BYTES));
  const content = decipher.update(rest.subarray(0, -TAG_BYTES));
  try {
    return Buffer.concat([content, decipher.final()]);
  } catch {
    // Node throws for a wrong tag.
    return undefined;
  }
}

function toAdditionalData({ head, context }: Sealed): Buffer {
  return Buffer.concat([head, Buffer.from(context)]);
}

function toBytes(content: string | Uint8Array): Uint8Array {
  if (typeof content === "string" && !content.isWellFormed())
    throw new FrameworkError("a text with half of a surrogate pair cannot be encrypted", { code: "E_ENCRYPT" });
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  if (bytes.length <= MAX_CONTENT_BYTES) return bytes;
  throw new FrameworkError(`a value of ${bytes.length} bytes cannot be encrypted; the limit is ${MAX_CONTENT_BYTES}`, {
    code: "E_ENCRYPT",
  });
}

function readUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
