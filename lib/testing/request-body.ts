/**
 * The body of a test's request: JSON, a form, or anything `fetch` takes, as bytes with the media type that goes with it.
 */
import { Readable } from "node:stream";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";

/** What `fetch` takes, by a name that Node declares too. */
type Body = NonNullable<RequestInit["body"]>;

/** At most one of the three. */
export interface BodyOptions {
  /** Sent as `application/json`. */
  readonly json?: unknown;
  /** Sent urlencoded; a list repeats its key. */
  readonly form?: Readonly<Record<string, string | readonly string[]>>;
  /** As with `fetch`: text, bytes, `URLSearchParams`, `FormData`, a `Blob`, a stream; a Node stream too. */
  readonly body?: Body | Readable;
}

export interface EncodedBody {
  /** Bytes where the length is known beforehand; `undefined`: the request has no body. */
  readonly content: Buffer | Readable | undefined;
  /** The `Content-Type` that goes with it unless the request names one. */
  readonly type: string | undefined;
}

export function encodeBody({ json, form, body }: BodyOptions): EncodedBody {
  if ([json, form, body].filter((each) => each !== undefined).length > 1) {
    throw new TypeError("a request has one body: give one of json, form and body");
  }
  if (json !== undefined) return { content: Buffer.from(JSON.stringify(json)), type: "application/json" };
  if (form !== undefined) return encode(fieldsOf(form));
  return body === undefined ? { content: undefined, type: undefined } : encode(body);
}

function encode(body: Body | Readable): EncodedBody {
  if (body instanceof Readable) return { content: body, type: undefined };
  if (body instanceof Uint8Array) return { content: Buffer.from(body), type: undefined };
  // A `Response` knows how each kind of body is written, and what it is called.
  const encoder = new Response(body);
  const type = encoder.headers.get("content-type") ?? undefined;
  if (typeof body === "string" || body instanceof URLSearchParams) return { content: Buffer.from(String(body)), type };
  // Node's and the DOM's declarations of the same class differ.
  return { content: Readable.fromWeb(encoder.body as NodeReadableStream), type };
}

function fieldsOf(form: NonNullable<BodyOptions["form"]>): URLSearchParams {
  const fields = new URLSearchParams();
  for (const [name, value] of Object.entries(form)) {
    for (const each of typeof value === "string" ? [value] : value) fields.append(name, each);
  }
  return fields;
}
