/**
 * A response as a store keeps it: what a handler returned, or the error that it threw. The headers are those that the handler has set; those
 * of the stages are new in each response. `Set-Cookie`, dates and ids of a request are never stored.
 */
import { FrameworkError } from "../errors/framework-error.js";
import { Problem } from "../errors/problem.js";
import type { Context } from "../http/request/context.js";
import { getBodyLength, type HeadSnapshot } from "../http/response/response-state.js";
import { settleBody } from "../http/response/returned-value.js";

/** The longest body of a stored response: 64 KiB. */
export const MAX_BODY_BYTES = 65_536;

const REPLAYED = "Idempotency-Replayed";

const NEVER_STORED: ReadonlySet<string> = new Set([
  "set-cookie",
  "date",
  "age",
  "connection",
  "keep-alive",
  "transfer-encoding",
  "content-length",
  "x-request-id",
  "request-id",
  "x-correlation-id",
  "traceparent",
  "tracestate",
  "server-timing",
]);

type HeaderValue = string | number | readonly string[];
type RecordedHeaders = Readonly<Record<string, HeaderValue>>;

export interface RecordedReply {
  readonly kind: "reply";
  readonly status: number;
  readonly type?: string;
  readonly headers: RecordedHeaders;
  readonly body?: string | Uint8Array;
}

/** An error below 500. A replay throws it again, so the error mapper of the application gets it as well. */
export interface RecordedError {
  readonly kind: "error";
  readonly status: number;
  readonly code: string;
  readonly detail?: string;
  readonly slug?: string;
  /** Those of the error. */
  readonly headers: Readonly<Record<string, string>>;
  /** The headers that the handler had set. */
  readonly set: RecordedHeaders;
  readonly extensions: Readonly<Record<string, unknown>>;
}

export type RecordedResponse = RecordedReply | RecordedError;

/**
 * Records the response on the context. `undefined` for a stream, a page, a redirect, a response that is written by hand, one that a stage has
 * replaced, and a body above 64 KiB.
 *
 * @param before the headers before the handler ran
 */
export function recordReply(ctx: Context, before: HeadSnapshot): RecordedReply | undefined {
  if (!ctx.mayChange || ctx.headIsSent || ctx.isWrittenByHand || ctx.deferred !== undefined) return undefined;
  settleBody(ctx);
  const { payload, raw, inferredType } = ctx;
  if (payload !== undefined && typeof payload !== "string" && !(payload instanceof Uint8Array)) return undefined;
  if ((getBodyLength(payload) ?? 0) > MAX_BODY_BYTES) return undefined;
  return {
    kind: "reply",
    status: raw.statusCode,
    ...(inferredType !== undefined && { type: inferredType }),
    headers: pickHeaders(raw.getHeaders(), before),
    ...(payload !== undefined && { body: payload }),
  };
}

function pickHeaders(headers: Readonly<Record<string, unknown>>, before: HeadSnapshot): RecordedHeaders {
  const set = Object.entries(headers).filter(
    (entry): entry is [string, HeaderValue] => entry[1] !== undefined && entry[1] !== before?.[entry[0]],
  );
  return Object.fromEntries(set.filter(([name]) => !NEVER_STORED.has(name)));
}

/** `undefined` for an error whose document is above 64 KiB. @param before the headers before the handler ran */
export function recordError(ctx: Context, before: HeadSnapshot, error: FrameworkError): RecordedError | undefined {
  const { status, code, detail, slug, headers = {} } = error;
  const document = Problem.from(error).toJSON();
  if (Buffer.byteLength(JSON.stringify(document)) > MAX_BODY_BYTES) return undefined;
  const { type: _type, title: _title, status: _status, detail: _detail, instance: _instance, ...extensions } = document;
  return {
    kind: "error",
    status,
    code,
    ...(detail !== undefined && { detail }),
    ...(slug !== undefined && { slug }),
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !NEVER_STORED.has(name.toLowerCase()))),
    set: pickHeaders(ctx.raw.getHeaders(), before),
    extensions,
  };
}

/** Responds as the handler did. @throws FrameworkError for a stored error */
export function replay(ctx: Context, recorded: RecordedResponse): void {
  const set = recorded.kind === "error" ? recorded.set : recorded.headers;
  for (const [name, value] of Object.entries(set)) ctx.raw.setHeader(name, value);
  if (recorded.kind === "error") {
    const { detail, headers, ...options } = recorded;
    throw new FrameworkError(detail, { ...options, headers: { ...headers, [REPLAYED]: "true" } });
  }
  const { status, type, body } = recorded;
  ctx.setStatus(status);
  ctx.raw.setHeader(REPLAYED, "true");
  if (body !== undefined) ctx.setBody(body, type);
}

/** As ASCII: a database may have a character set without the letters of a response. */
export function serializeResponse(recorded: RecordedResponse): string {
  const isText = recorded.kind === "reply" && typeof recorded.body === "string";
  const body = recorded.kind === "reply" && recorded.body !== undefined ? Buffer.from(recorded.body) : undefined;
  const stored = body === undefined ? recorded : { ...recorded, body: body.toString("base64"), isText };
  return JSON.stringify(stored).replaceAll(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** @throws FrameworkError `E_IDEMPOTENCY_RECORD` for a text that `serializeResponse` has not written */
export function parseResponse(text: string): RecordedResponse {
  const stored = parseObject(text);
  if (stored["kind"] !== "error" && stored["kind"] !== "reply") throw unreadable();
  const { body, isText, ...recorded } = stored;
  // The store has the texts of this file alone.
  if (typeof body !== "string") return recorded as unknown as RecordedResponse;
  const bytes = Buffer.from(body, "base64");
  return { ...recorded, body: isText === true ? bytes.toString() : bytes } as unknown as RecordedResponse;
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    // The message of `JSON.parse` quotes the text, which is a response.
    return Object(JSON.parse(text)) as Readonly<Record<string, unknown>>;
  } catch {
    throw unreadable();
  }
}

function unreadable(): FrameworkError {
  return new FrameworkError("a stored response is not what the store of idempotency keys has written", {
    code: "E_IDEMPOTENCY_RECORD",
  });
}
