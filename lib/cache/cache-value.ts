/**
 * The value of a cache: JSON, with a time to live. A value that JSON would change, such as a `Date`, is refused, so a reader gets what was
 * written. Values are frozen, because all callers of a process may get the same object.
 */
import { valueText } from "../errors/value-text.js";
import { FrameworkError } from "../errors/framework-error.js";
import { findJsonLoss, type JsonLoss } from "../runtime/json-loss.js";

/** 64 MiB of text, in UTF-16 code units. */
export const MAX_CACHE_VALUE_LENGTH = 67_108_864;
/** The longest key and the longest tag, in UTF-16 code units. */
export const MAX_CACHE_KEY_LENGTH = 1024;
/** The most tags of a value. */
export const MAX_CACHE_TAGS = 64;

/** The longest prefix of a key that is shown. */
const MAX_SHOWN_LENGTH = 64;

/** How long a value lives. */
export interface CacheLifetime {
  /** The milliseconds for which the value is fresh. */
  readonly ttlMs: number;
  /** The milliseconds after that for which the value is stale: it is returned while a new one is computed. 0: never. */
  readonly staleMs: number;
  readonly tags: readonly string[];
}

/**
 * For drivers: a value as JSON text.
 *
 * @throws FrameworkError `E_CACHE_VALUE` for a value that JSON would lose or change at any depth, and for more than 64 MiB of JSON
 */
export function writeCacheValue(key: string, value: unknown): string {
  const text = stringify(key, value);
  if (text.length > MAX_CACHE_VALUE_LENGTH) {
    throw invalidValue(key, `its JSON is longer than ${MAX_CACHE_VALUE_LENGTH} characters`);
  }
  return text;
}

/**
 * For drivers: the value of stored JSON text, frozen.
 *
 * @throws FrameworkError `E_CACHE_VALUE` if the text is not JSON, because another program has written it
 */
export function readCacheValue(key: string, text: string): unknown {
  try {
    return deepFreeze(JSON.parse(text));
  } catch {
    throw unreadableValue(key);
  }
}

/**
 * A key as events and errors show it: the text before its first colon. The rest may hold an id, a name or a token, and so may a key without
 * a colon.
 */
export function redactKey(key: string): string {
  const colon = key.indexOf(":");
  return colon > 0 && colon <= MAX_SHOWN_LENGTH ? `${key.slice(0, colon)}:…` : `… (${key.length} characters)`;
}

/** The error for a value under `key` that this cache has not written. */
export function unreadableValue(key: string): FrameworkError {
  return new FrameworkError(
    `the cached text under ${JSON.stringify(redactKey(key))} is not JSON; another program with the same namespace may have written it`,
    { code: "E_CACHE_VALUE" },
  );
}

/** @throws FrameworkError `E_CACHE_TTL` unless both times are whole numbers of milliseconds, `ttlMs` above 0; `E_CACHE_KEY` for a tag */
export function readLifetime(ttlMs: number, options: Partial<CacheLifetime> = {}): CacheLifetime {
  const { staleMs = 0, tags = [] } = options;
  expectTtl(ttlMs);
  if (!Number.isSafeInteger(staleMs) || staleMs < 0 || ttlMs + staleMs > Number.MAX_SAFE_INTEGER) {
    throw new FrameworkError(`staleMs must be a whole number of milliseconds, 0 or more, not ${valueText(staleMs)}`, {
      code: "E_CACHE_TTL",
    });
  }
  checkTags(tags);
  return { ttlMs, staleMs, tags };
}

/** For drivers. @throws FrameworkError `E_CACHE_TTL` unless it is a whole number of milliseconds above 0 */
export function expectTtl(ttlMs: number): void {
  if (Number.isSafeInteger(ttlMs) && ttlMs > 0) return;
  throw new FrameworkError(`ttlMs must be a whole number of milliseconds above 0, not ${valueText(ttlMs)}`, {
    code: "E_CACHE_TTL",
  });
}

// In UTF-8 each of them becomes the same replacement character, so two keys would become one.
const LONE_SURROGATE = /\p{Surrogate}/u;

/** @throws FrameworkError `E_CACHE_KEY` for an empty name, for one above 1024 characters, and for one that is no well-formed Unicode */
export function checkKey(key: string, what = "key"): void {
  const isText = typeof key === "string";
  if (isText && key !== "" && key.length <= MAX_CACHE_KEY_LENGTH) {
    if (!LONE_SURROGATE.test(key)) return;
    throw new FrameworkError(`a ${what} of a cache is well-formed Unicode`, { code: "E_CACHE_KEY" });
  }
  const given = isText ? `${key.length} characters` : valueText(key);
  throw new FrameworkError(`a ${what} of a cache is a text of 1 to ${MAX_CACHE_KEY_LENGTH} characters, not ${given}`, {
    code: "E_CACHE_KEY",
  });
}

/** @throws FrameworkError `E_CACHE_KEY` for a tag that is not a key, and for more than 64 tags */
export function checkTags(tags: readonly string[]): void {
  for (const tag of tags) checkKey(tag, "tag");
  if (tags.length <= MAX_CACHE_TAGS) return;
  throw new FrameworkError(`a cached value has at most ${MAX_CACHE_TAGS} tags, not ${tags.length}`, {
    code: "E_CACHE_KEY",
  });
}

function deepFreeze(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  // A list instead of recursion: JSON of a hostile writer may be nested deeper than the stack.
  const open: object[] = [value];
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    Object.freeze(each);
    for (const member of Object.values(each) as unknown[]) {
      if (typeof member === "object" && member !== null) open.push(member);
    }
  }
  return value;
}

function stringify(key: string, value: unknown): string {
  let text: string | undefined;
  let loss: JsonLoss | undefined;
  try {
    // Refuses cycles, so that the search for a loss ends.
    text = JSON.stringify(value);
    loss = findJsonLoss(value, "it");
  } catch (cause) {
    throw invalidValue(key, "JSON.stringify failed", cause);
  }
  if (loss === undefined && text !== undefined) return text;
  const { path, kind } = loss ?? { path: "it", kind: `of type ${typeof value}` };
  throw invalidValue(key, `${path} is ${kind}, which JSON cannot keep`);
}

function invalidValue(key: string, reason: string, cause?: unknown): FrameworkError {
  return new FrameworkError(`the value for ${JSON.stringify(redactKey(key))} cannot be cached: ${reason}`, {
    code: "E_CACHE_VALUE",
    cause,
  });
}
