/**
 * The key of a client, which selects the bucket of a request. The key is the client's address, a request header, a constant (one bucket for
 * all clients) or the result of a function. All IPv6 addresses of one network are one client. Requests without a key share the bucket
 * `unidentified`.
 *
 * Clients choose their headers, so the length of a key is bounded: a long key is replaced by its SHA-256.
 */
import { createHash } from "node:crypto";
import type { Context } from "../../http/request/context.js";
import { FrameworkError } from "../../errors/framework-error.js";
import { ADDRESS_BITS, getClientNetwork } from "./client-network.js";
import { setupError } from "../../errors/setup-error.js";

/**
 * `"ip"` counts the addresses of an IPv6 /64 as one client; `{ ipv6Prefix }` counts those of a network of another length, 1 to 128 bits.
 * A function that returns `undefined`, `null` or `""` puts the request into the bucket `unidentified`.
 */
export type RateLimitKey =
  | "ip"
  | "global"
  | { readonly header: string }
  | { readonly ipv6Prefix: number }
  | ((ctx: Context) => string | number | bigint | null | undefined);

export type KeyReader = (ctx: Context) => string;

const UNIDENTIFIED = "unidentified";
/** In UTF-16 code units. */
const MAX_KEY_LENGTH = 128;
const DEFAULT_IPV6_PREFIX = 64;

/** @throws FrameworkError `E_RATE_LIMIT_KEY` unless `key` is one of the five forms of a `RateLimitKey` */
export function readRateLimitKey(key: RateLimitKey): KeyReader {
  if (key === "ip") return createAddressReader(DEFAULT_IPV6_PREFIX);
  if (key === "global") return () => "global";
  if (typeof key === "function") return (ctx) => boundKey(toKeyText(key(ctx)));
  return createOptionReader(key);
}

function createAddressReader(prefix: number): KeyReader {
  return (ctx) => boundKey(getClientNetwork(ctx.ip, prefix));
}

// JavaScript callers may pass any value.
function createOptionReader(
  key: { readonly header?: unknown; readonly ipv6Prefix?: unknown } | null | undefined,
): KeyReader {
  const { header, ipv6Prefix } = key ?? {};
  if (header === undefined && isPrefix(ipv6Prefix)) return createAddressReader(ipv6Prefix);
  if (ipv6Prefix !== undefined || typeof header !== "string" || !/^[\w!#$%&'*+.^`|~-]+$/.test(header))
    throw createKeyError(key);
  const name = header.toLowerCase();
  return (ctx) => boundKey(toKeyText(ctx.incoming.headers[name]?.toString()));
}

function isPrefix(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= ADDRESS_BITS;
}

function toKeyText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  // All objects have the same text, so all clients would silently share one bucket.
  const message = `a rate limit's key function returned a ${typeof value}; return a string, and not a promise`;
  throw new FrameworkError(message, { code: "E_RATE_LIMIT_KEY" });
}

function boundKey(text: string): string {
  if (text === "") return UNIDENTIFIED;
  return text.length <= MAX_KEY_LENGTH ? text : createHash("sha256").update(text).digest("base64url");
}

function createKeyError(key: unknown): FrameworkError {
  return setupError(
    new FrameworkError(
      `a rate limit cannot tell clients apart by ${JSON.stringify(key)}: use "ip", { ipv6Prefix: 56 }, "global", { header: "x-api-key" } or a function; a prefix has 1 to 128 bits`,
      { code: "E_RATE_LIMIT_KEY" },
    ),
  );
}
