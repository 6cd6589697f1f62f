/**
 * The key of a client: it selects the bucket that a request takes a token from. The key is the client's address, a request header, a
 * constant (one bucket for all clients) or the result of a function. Requests without a key share the bucket `unidentified`.
 *
 * Clients choose their headers, so the length of a key is bounded: a long key is replaced by its SHA-256.
 */
import { createHash } from "node:crypto";
import type { Context } from "../../http/context.js";
import { FrameworkError } from "../../errors/framework-error.js";

/** A function that returns `undefined`, `null` or `""` puts the request into the bucket `unidentified`. */
export type RateLimitKey =
  "ip" | "global" | { readonly header: string } | ((ctx: Context) => string | number | bigint | null | undefined);

export type KeyOf = (ctx: Context) => string;

const UNIDENTIFIED = "unidentified";
/** In UTF-16 code units. */
const LONGEST_KEY = 128;

/** @throws FrameworkError `E_RATE_LIMIT_KEY` unless `key` is one of the four forms of a `RateLimitKey` */
export function readRateLimitKey(key: RateLimitKey): KeyOf {
  if (key === "ip") return (ctx) => bounded(ctx.ip);
  if (key === "global") return () => "global";
  if (typeof key === "function") return (ctx) => bounded(textOf(key(ctx)));
  return byHeader(key);
}

// JavaScript callers may pass anything.
function byHeader(key: { readonly header?: unknown } | null | undefined): KeyOf {
  const { header } = key ?? {};
  if (typeof header !== "string" || !/^[\w!#$%&'*+.^`|~-]+$/.test(header)) throw invalidKey(key);
  const name = header.toLowerCase();
  return (ctx) => bounded(textOf(ctx.incoming.headers[name]?.toString()));
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  // All objects have the same text, so all clients would share one bucket without a sign of it.
  throw new FrameworkError(
    `a rate limit's key function returned a ${typeof value}; return a string, and not a promise`,
    {
      code: "E_RATE_LIMIT_KEY",
    },
  );
}

function bounded(text: string): string {
  if (text === "") return UNIDENTIFIED;
  return text.length <= LONGEST_KEY ? text : createHash("sha256").update(text).digest("base64url");
}

function invalidKey(key: unknown): FrameworkError {
  return new FrameworkError(
    `a rate limit cannot tell clients apart by ${JSON.stringify(key)}: use "ip", "global", { header: "x-api-key" } or a function`,
    { code: "E_RATE_LIMIT_KEY" },
  );
}
