/**
 * A password hash and its text in the PHC string format, which other programs write too: `$scrypt$ln=17,r=8,p=1$<salt>$<hash>`, with salt
 * and hash in base64 without padding.
 */
import type { HashAlgorithm, HashCost } from "./hash-algorithm.js";

export interface PasswordHash {
  readonly algorithm: HashAlgorithm;
  readonly cost: HashCost;
  readonly salt: Buffer;
  readonly hash: Buffer;
}

const MAX_TEXT_LENGTH = 256;
const MIN_HASH_BYTES = 16;
/** Of a salt or a hash. */
const MAX_BYTES = 64;

export function formatPasswordHash({ algorithm: { prefix, names }, cost, salt, hash }: PasswordHash): string {
  const costs = names.map((name, index) => `${name}=${cost[index]}`);
  return `${prefix}${costs.join(",")}$${toBase64(salt)}$${toBase64(hash)}`;
}

/** `undefined` for a text of another form, for another algorithm, and for costs beyond the limits. Never throws. */
export function parsePasswordHash(text: unknown, algorithms: readonly HashAlgorithm[]): PasswordHash | undefined {
  if (typeof text !== "string" || text.length > MAX_TEXT_LENGTH) return undefined;
  const algorithm = algorithms.find(({ prefix }) => text.startsWith(prefix));
  if (algorithm === undefined) return undefined;
  const [costs = "", saltText = "", hashText = "", ...rest] = text.slice(algorithm.prefix.length).split("$");
  const cost = parseCost(costs, algorithm.names);
  const salt = parseBase64(saltText, algorithm.minSaltBytes);
  const hash = parseBase64(hashText, MIN_HASH_BYTES);
  if (rest.length > 0 || cost === undefined || salt === undefined || hash === undefined) return undefined;
  return algorithm.isBounded(cost) ? { algorithm, cost, salt, hash } : undefined;
}

function parseCost(text: string, [first, second, third]: HashAlgorithm["names"]): HashCost | undefined {
  const digits = String.raw`([1-9]\d{0,8})`;
  const match = new RegExp(`^${first}=${digits},${second}=${digits},${third}=${digits}$`).exec(text);
  return match === null ? undefined : [Number(match[1]), Number(match[2]), Number(match[3])];
}

function toBase64(bytes: Buffer): string {
  return bytes.toString("base64").replace(/=+$/, "");
}

/** Only in its one spelling. */
function parseBase64(text: string, min: number): Buffer | undefined {
  const bytes = Buffer.from(text, "base64");
  return bytes.length >= min && bytes.length <= MAX_BYTES && toBase64(bytes) === text ? bytes : undefined;
}
