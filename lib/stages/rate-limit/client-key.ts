/**
 * The key of a client: it selects the bucket that a request takes a token from. The key is the client's address, a request header, a
 * constant (one bucket for all clients) or the result of a function. All IPv6 addresses of one network are one client. Requests without a
 * key share the bucket `unidentified`.
 *
 * Clients choose their headers, so the length of a key is bounded: a long key is replaced by its SHA-256.
 */
import { createHash } from "node:crypto";
import type { Context } from "../../http/request/context.js";
import { FrameworkError } from "../../errors/framework-error.js";
import { checkOptionNames } from "../../errors/option-names.js";
import { ADDRESS_BITS, clientNetwork } from "./client-network.js";
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

export type KeyOf = (ctx: Context) => string;

const UNIDENTIFIED = "unidentified";
/** In UTF-16 code units. */
const LONGEST_KEY = 128;
const CUSTOMER_PREFIX = 64;

/** @throws FrameworkError `E_RATE_LIMIT_KEY` unless `key` is one of the five forms of a `RateLimitKey`; `E_OPTION` for an unknown name */
export function readRateLimitKey(key: RateLimitKey): KeyOf {
  if (key === "ip") return byAddress(CUSTOMER_PREFIX);
  if (key === "global") return () => "global";
  if (typeof key === "function") return (ctx) => bounded(textOf(key(ctx)));
  return byOption(key);
}

function byAddress(prefix: number): KeyOf {
  return (ctx) => bounded(clientNetwork(ctx.ip, prefix));
}

// JavaScript callers may pass anything.
function byOption(key: { readonly header?: unknown; readonly ipv6Prefix?: unknown } | null | undefined): KeyOf {
  checkOptionNames(key ?? {}, { header: true, ipv6Prefix: true }, "RateLimit.by");
  const { header, ipv6Prefix } = key ?? {};
  if (header === undefined && isPrefix(ipv6Prefix)) return byAddress(ipv6Prefix);
  if (ipv6Prefix !== undefined || typeof header !== "string" || !/^[\w!#$%&'*+.^`|~-]+$/.test(header))
    throw invalidKey(key);
  const name = header.toLowerCase();
  return (ctx) => bounded(textOf(ctx.incoming.headers[name]?.toString()));
}

function isPrefix(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= ADDRESS_BITS;
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  // All objects have the same text, so all clients would silently share one bucket.
  const message = `a rate limit's key function returned a ${typeof value}; return a string, and not a promise`;
  throw new FrameworkError(message, { code: "E_RATE_LIMIT_KEY" });
}

function bounded(text: string): string {
  if (text === "") return UNIDENTIFIED;
  return text.length <= LONGEST_KEY ? text : createHash("sha256").update(text).digest("base64url");
}

function invalidKey(key: unknown): FrameworkError {
  return setupError(
    new FrameworkError(
      `a rate limit cannot tell clients apart by ${JSON.stringify(key)}: use "ip", { ipv6Prefix: 56 }, "global", { header: "x-api-key" } or a function; a prefix has 1 to 128 bits`,
      { code: "E_RATE_LIMIT_KEY" },
    ),
  );
}
