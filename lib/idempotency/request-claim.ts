/** The claim of a request: its key, its caller, and the hash of what it asks for. Two requests with one claim are the same request. */
import { createHash } from "node:crypto";
import type { Idempotent } from "../endpoints/idempotent.js";
import { FrameworkError } from "../errors/framework-error.js";
import { valueText } from "../errors/value-text.js";
import { getMediaType, readBytes } from "../http/body/body-reader.js";
import { createUnsupportedTypeError } from "../http/body/unsupported-type.js";
import type { Context } from "../http/request/context.js";
import { getQuery } from "../http/request/request-target.js";
import { createAnonymousError, createKeyError, createMissingKeyError } from "./idempotency-errors.js";
import { parseIdempotencyKey } from "./idempotency-key.js";
import type { IdempotencyClaim } from "./idempotency-store.js";

/** A text or a number that no other caller has; `undefined` for a request without a caller. */
export type Principal = string | number | undefined;

interface PrincipalReader {
  principal(ctx: Context): Principal | Promise<Principal>;
}

/**
 * Returns `undefined` for a request without a key, where the endpoint does not require one.
 *
 * @throws FrameworkError `E_IDEMPOTENCY_KEY`, `E_IDEMPOTENCY_CALLER`, `E_IDEMPOTENCY_PRINCIPAL`; UnsupportedMediaTypeError
 */
export async function readClaim(
  ctx: Context,
  { required, ttlMs }: Idempotent,
  reader: PrincipalReader,
): Promise<IdempotencyClaim | undefined> {
  const header = ctx.incoming.headers["idempotency-key"];
  if (header === undefined && !required) return undefined;
  if (header === undefined) throw createMissingKeyError();
  const key = parseIdempotencyKey(String(header));
  if (key === undefined) throw createKeyError();
  const principal = await reader.principal(ctx);
  if (principal === undefined) throw createAnonymousError();
  const { method, path, clock } = ctx;
  const fingerprint = await hashRequest(ctx);
  return { id: hash(JSON.stringify([toCaller(principal), method, path, key])), fingerprint, ttlMs, clock };
}

/** An object would be the same text for all callers. */
function toCaller(principal: unknown): string {
  if (typeof principal === "string" && principal !== "") return principal;
  if (typeof principal === "number" && Number.isFinite(principal)) return String(principal);
  throw new FrameworkError(
    `principal of Idempotency returned ${valueText(principal)}: return a text, a number, or undefined for no caller`,
    { code: "E_IDEMPOTENCY_PRINCIPAL" },
  );
}

async function hashRequest(ctx: Context): Promise<string> {
  const type = getMediaType(ctx.incoming.headers["content-type"] ?? "");
  if (type.startsWith("multipart/"))
    throw createUnsupportedTypeError(
      type,
      "no multipart form",
      "A request with an Idempotency-Key has no multipart form.",
    );
  const head = JSON.stringify([ctx.method, ctx.path, getQuery(ctx.url), type]);
  return hash(head, await readBytes(ctx));
}

function hash(text: string, bytes: Uint8Array = new Uint8Array()): string {
  return createHash("sha256").update(text).update("\n").update(bytes).digest("hex");
}
