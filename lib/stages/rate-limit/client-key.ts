/**
 * Whose bucket a request takes from: the client's address, a header, one bucket for everybody, or what a function says. What names no
 * one shares the bucket `unidentified`. Keys come from outside, so a long one is kept as its digest.
 */
import { createHash } from "node:crypto";
import type { Context } from "../../http/context.js";
import { FrameworkError } from "../../errors/framework-error.js";

/** `undefined`, `null` and `""`: the shared bucket of the unidentified. */
export type RateLimitKey =
  "ip" | "global" | { readonly header: string } | ((ctx: Context) => string | number | bigint | null | undefined);

export type KeyOf = (ctx: Context) => string;

const UNIDENTIFIED = "unidentified";
/** Longer keys are kept as their SHA-256. */
const LONGEST_KEY = 128;

/** @throws FrameworkError `E_RATE_LIMIT_KEY` for what is no way of telling clients apart */
export function readRateLimitKey(key: RateLimitKey): KeyOf {
  if (key === "ip") return (ctx) => bounded(ctx.ip);
  if (key === "global") return () => "global";
  if (typeof key === "function") return (ctx) => bounded(textOf(key(ctx)));
  return byHeader(key);
}

/** JavaScript callers may pass anything. */
function byHeader(key: { readonly header?: unknown } | null | undefined): KeyOf {
  const { header } = key ?? {};
  if (typeof header !== "string" || !/^[\w!#$%&'*+.^`|~-]+$/.test(header)) throw refuse(key);
  const name = header.toLowerCase();
  return (ctx) => bounded(textOf(ctx.incoming.headers[name]?.toString()));
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  // Every object would be the same text, and all clients would share one bucket unnoticed.
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

function refuse(key: unknown): FrameworkError {
  return new FrameworkError(
    `a rate limit cannot tell clients apart by ${JSON.stringify(key)}: use "ip", "global", { header: "x-api-key" } or a function`,
    { code: "E_RATE_LIMIT_KEY" },
  );
}
