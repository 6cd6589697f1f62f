/**
 * The rules for keys, media types and metadata of a storage. They are the same for every driver, so that an application can change the
 * driver. A key that breaks a rule is refused and never rewritten: two texts that become one key would overwrite each other's file.
 *
 * A key is a relative path such as `avatars/7/face.png`: segments with `/` between them, in UTF-8, at most 1024 bytes in all and 255 in a
 * segment. Spaces and characters of any script are allowed, in Normalization Form C.
 */
import { BadRequestError } from "../errors/framework-error.js";
import { StorageKeyError } from "./storage-errors.js";

export const MAX_KEY_BYTES = 1024;
/** The longest name that file systems allow. */
const MAX_SEGMENT_BYTES = 255;
/** The prefix of the internal files of the drivers. */
export const RESERVED_START = ".~";

const LONE_SURROGATE = /\p{Surrogate}/u;
// Also the characters that XML cannot hold: the listings of S3 are XML.
const CONTROL = /[\p{Control}\p{Noncharacter_Code_Point}]/u;

/** @throws StorageKeyError `E_STORAGE_KEY`, with the rule and without the key */
export function checkStorageKey(key: unknown): asserts key is string {
  const fault = findKeyFault(key);
  if (fault !== undefined) throw new StorageKeyError(fault);
}

/** A prefix is the start of a key: `""`, `avatars/`, `avatars/7`. @throws StorageKeyError */
export function checkStoragePrefix(prefix: unknown): asserts prefix is string {
  const fault = typeof prefix === "string" ? findKeyFault(`${prefix}x`) : "is a string";
  if (fault !== undefined) throw new StorageKeyError(fault);
}

function findKeyFault(key: unknown): string | undefined {
  if (typeof key !== "string" || key === "") return "is a text that is not empty";
  if (key.length > MAX_KEY_BYTES || Buffer.byteLength(key) > MAX_KEY_BYTES) return `has at most ${MAX_KEY_BYTES} bytes`;
  if (LONE_SURROGATE.test(key)) return "is well-formed Unicode";
  if (CONTROL.test(key)) return "has no control character";
  if (key.includes("\\")) return "has no backslash";
  if (key.normalize("NFC") !== key)
    return "is in Unicode Normalization Form C; call normalize() where the name comes in";
  if (key.startsWith("/")) return "is a relative path; it does not start with a slash";
  return key.split("/").map(findSegmentFault).find(Boolean);
}

function findSegmentFault(segment: string): string | undefined {
  if (segment === "") return "has no empty segment";
  if (segment === "." || segment === "..") return 'has no segment "." or ".."';
  if (segment.startsWith(RESERVED_START)) return `has no segment that starts with "${RESERVED_START}"`;
  if (Buffer.byteLength(segment) > MAX_SEGMENT_BYTES) return `has at most ${MAX_SEGMENT_BYTES} bytes in a segment`;
  return undefined;
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
/** RFC 9110 section 8.3.1. */
const MEDIA_TYPE = new RegExp(`^${TOKEN}/${TOKEN}(?:[ \\t]*;[ \\t]*${TOKEN}=(?:${TOKEN}|"[ !#-\\[\\]-~]*"))*$`);
const MAX_TYPE = 255;

/** @throws BadRequestError `E_STORAGE_TYPE` for a text that is not a media type, or has over 255 characters */
export function checkMediaType(type: unknown): asserts type is string {
  if (typeof type === "string" && type.length <= MAX_TYPE && MEDIA_TYPE.test(type)) return;
  throw new BadRequestError("the type of a stored file is a media type such as image/png", { code: "E_STORAGE_TYPE" });
}

/** Drivers without a place for the visibility keep it under this name. */
export const VISIBILITY_NAME = "stagecraft-visibility";
const METADATA_NAME = /^[a-z0-9][a-z0-9-]{0,63}$/;
const METADATA_VALUE = /^[^\p{Control}\p{Surrogate}\p{Noncharacter_Code_Point}\u2028\u2029]+$/u;
const MAX_METADATA = 1024;

/**
 * Metadata travel in headers of HTTP, so their names are in lower case, and a value in another script than ASCII is encoded there.
 *
 * @throws BadRequestError `E_STORAGE_METADATA` naming the rule
 */
export function checkMetadata(metadata: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  let size = 0;
  for (const [name, value] of Object.entries(metadata)) {
    if (!METADATA_NAME.test(name)) throw wrongMetadata("a name is 1 to 64 of a-z, 0-9 and -, a letter or digit first");
    if (name === VISIBILITY_NAME) throw wrongMetadata(`the name ${VISIBILITY_NAME} is that of the visibility`);
    if (typeof value !== "string" || !METADATA_VALUE.test(value) || value.trim() !== value)
      throw wrongMetadata("a value is text without control characters, and without spaces around it");
    size += name.length + toHeaderValue(value).length;
  }
  if (size > MAX_METADATA)
    throw wrongMetadata(
      `names and values have at most ${MAX_METADATA} characters together, of which base64 counts for other scripts`,
    );
  return Object.freeze({ ...metadata });
}

const ENCODED = /^=\?UTF-8\?B\?([A-Za-z0-9+/=]*)\?=$/;

/** A value of metadata as a header takes it: ASCII as it is, and other text as an encoded word (RFC 2047), as S3 itself shows it. */
export function toHeaderValue(value: string): string {
  const isPlain = /^[ -~]*$/.test(value) && !value.startsWith("=?");
  return isPlain ? value : `=?UTF-8?B?${Buffer.from(value).toString("base64")}?=`;
}

/** Reads a header that `toHeaderValue` has written, or another program in ASCII. */
export function parseHeaderValue(header: string): string {
  const [, base64] = ENCODED.exec(header) ?? [];
  return base64 === undefined ? header : Buffer.from(base64, "base64").toString();
}

function wrongMetadata(rule: string): BadRequestError {
  return new BadRequestError(`metadata of a stored file: ${rule}`, { code: "E_STORAGE_METADATA" });
}
