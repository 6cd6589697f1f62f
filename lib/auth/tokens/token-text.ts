/**
 * The text of an API token: a prefix, 160 random bits in base62, and a checksum. The prefix tells scanners of sources and logs whose token
 * it is, and the checksum tells them that it is one. The checksum is no secret: anybody can compute it.
 */
import { hash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE = BigInt(DIGITS.length);
const RANDOM_BYTES = 20;
/** 62 to the power of 27 is more than 2 to the power of 160. */
const RANDOM_LENGTH = 27;
const CHECKSUM_LENGTH = 6;
const TAIL_LENGTH = 1 + RANDOM_LENGTH + CHECKSUM_LENGTH;

/** Words of lower-case letters and digits, 2 to 16 characters in all: `shop`, `shop_test`. */
export function isTokenPrefix(prefix: unknown): boolean {
  return (
    typeof prefix === "string" &&
    prefix.length >= 2 &&
    prefix.length <= 16 &&
    /^[a-z][a-z\d]*(?:_[a-z\d]+)*$/.test(prefix)
  );
}

export function createTokenText(prefix: string): string {
  const random = BigInt(`0x${randomBytes(RANDOM_BYTES).toString("hex")}`);
  const body = `${prefix}_${toBase62(random, RANDOM_LENGTH)}`;
  return body + toChecksum(body);
}

/** Whether a text has the form of a token, by its start and its length alone. */
export function isTokenLike(text: string, prefix: string): boolean {
  // A JavaScript caller may pass any value.
  return typeof text === "string" && text.length === prefix.length + TAIL_LENGTH && text.startsWith(`${prefix}_`);
}

export function hasChecksum(text: string): boolean {
  return text.slice(-CHECKSUM_LENGTH) === toChecksum(text.slice(0, -CHECKSUM_LENGTH));
}

/** The form in which a token is stored: SHA-256 in lower-case hexadecimal digits. 160 random bits need no slow hash. */
export function toTokenHash(text: string): string {
  return hash("sha256", text);
}

function toChecksum(body: string): string {
  return toBase62(BigInt(crc32(body)), CHECKSUM_LENGTH);
}

function toBase62(value: bigint, length: number): string {
  let text = "";
  for (let rest = value; rest > 0n; rest /= BASE) text = DIGITS.charAt(Number(rest % BASE)) + text;
  return text.padStart(length, DIGITS.charAt(0));
}
