/** The refusals of requests with an `Idempotency-Key`. Each has a type of problem, by which a client tells them apart. */
import { FrameworkError } from "../errors/framework-error.js";
import { MAX_KEY_LENGTH } from "./idempotency-key.js";
import { MAX_WAIT_MS } from "./idempotency-store.js";

interface RefusalParts {
  readonly status: number;
  readonly code: string;
  readonly slug?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function refusal(detail: string, options: RefusalParts): FrameworkError {
  return new FrameworkError(detail, options);
}

export function createMissingKeyError(): FrameworkError {
  return refusal("The request needs the header Idempotency-Key.", { status: 400, code: "E_IDEMPOTENCY_KEY" });
}

export function createKeyError(): FrameworkError {
  const detail = `The header Idempotency-Key is one key of 1 to ${MAX_KEY_LENGTH} printable characters of ASCII, in quotes or without spaces, commas, semicolons, quotes and backslashes.`;
  return refusal(detail, { status: 400, code: "E_IDEMPOTENCY_KEY" });
}

export function createAnonymousError(): FrameworkError {
  const detail = "An Idempotency-Key belongs to a caller, and the request has none.";
  return refusal(detail, { status: 403, code: "E_IDEMPOTENCY_CALLER" });
}

export function createReuseError(): FrameworkError {
  const detail = "The Idempotency-Key was used for another request. Send a new key.";
  return refusal(detail, { status: 422, code: "E_IDEMPOTENCY_REUSED", slug: "idempotency-reused" });
}

/** RFC 9110 section 10.2.3: in seconds. */
export function createRunningError(): FrameworkError {
  return refusal("A request with this Idempotency-Key is running.", {
    status: 409,
    code: "E_IDEMPOTENCY_RUNNING",
    slug: "idempotency-running",
    headers: { "Retry-After": String(MAX_WAIT_MS / 1000) },
  });
}

export function createUnknownError(): FrameworkError {
  const detail =
    "An earlier request with this Idempotency-Key failed or was interrupted, and its outcome is not known. Read the state before you send it with a new key.";
  return refusal(detail, { status: 409, code: "E_IDEMPOTENCY_UNKNOWN", slug: "idempotency-unknown" });
}

export function createUnstoredError(): FrameworkError {
  const detail = "The request with this Idempotency-Key was carried out, and its response was not stored.";
  return refusal(detail, { status: 409, code: "E_IDEMPOTENCY_UNSTORED", slug: "idempotency-unstored" });
}
