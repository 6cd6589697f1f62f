/**
 * The request of a call: its URL, its headers and its body. A value of a query, a header or a form has the one text that the server reads:
 * a number is decimal, a boolean is `true` or `false`, a list is a repeated name, and `undefined` is left out.
 */
import type { PathParameter } from "../endpoints/path.js";
import { getMediaType } from "./media-type.js";
import type { ManifestEntry, ManifestKind } from "./manifest.js";

/** The parts of a call. Their types come from the contract of the endpoint. */
export interface CallParts {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: object;
  readonly headers?: object;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

/** A request as `fetch` takes it. */
export interface CallInit {
  readonly method: string;
  readonly headers: Headers;
  readonly body?: NonNullable<RequestInit["body"]>;
  readonly signal: AbortSignal | null;
  readonly redirect: "follow" | "manual";
  /** `fetch` demands it for a body that is a stream. */
  readonly duplex?: "half";
}

/** @param fill gives the path with the values of its captures, in their order */
export function toUrl(
  origin: string,
  template: string,
  fill: (...values: readonly PathParameter[]) => string,
  { params = {}, query = {} }: CallParts,
): string {
  const names = [...template.matchAll(/\{\*?(\w+)\}/g)].map(([, name = ""]) => name);
  const search = fillForm(new URLSearchParams(), query).toString();
  return origin + fill(...names.map((name) => params[name] as PathParameter)) + (search && `?${search}`);
}

/** @param added the headers of the client, the defaults first; those of the call replace them */
export function toInit(
  { method, body: contents, responses = {} }: ManifestEntry,
  parts: CallParts,
  ...added: readonly object[]
): CallInit {
  const headers = new Headers();
  for (const each of [...added, parts.headers ?? {}]) {
    for (const name of Object.keys(each)) headers.delete(name);
    fillForm(headers, each);
  }
  return {
    method: method === "ANY" ? "GET" : method,
    headers,
    ...(contents !== undefined && parts.body !== undefined && encodeBody(contents, parts.body, headers)),
    signal: parts.signal ?? null,
    redirect: Object.values(responses).includes("redirect") ? "manual" : "follow",
  };
}

/** The `Content-Type` of the call chooses between several contents; the first is the default. */
function encodeBody(
  contents: Readonly<Record<string, ManifestKind>>,
  body: unknown,
  headers: Headers,
): Pick<CallInit, "body" | "duplex"> {
  if (!headers.has("content-type")) headers.set("content-type", Object.keys(contents)[0] ?? "");
  const kind = contents[getMediaType(headers)];
  // `fetch` adds the boundary of a multipart form.
  if (kind === "multipart") headers.delete("content-type");
  if (kind === "json") return { body: JSON.stringify(body) };
  if (kind === "form") return { body: fillForm(new URLSearchParams(), body) };
  if (kind === "multipart") return { body: body instanceof FormData ? body : fillForm(new FormData(), body) };
  if (isAsyncIterable(body)) return { body: STREAMS.from(body), duplex: "half" };
  // The type of the call allows a text or bytes here.
  return { body: body as NonNullable<RequestInit["body"]> };
}

/** Lists of objects have their index in the name, as `links[0][url]`; other lists repeat the name. */
function fillForm<T extends FormData | Headers | URLSearchParams>(form: T, fields: unknown): T {
  const add = (name: string, value: unknown): void => {
    if (value === undefined) return;
    if (Array.isArray(value)) value.forEach((item, at) => add(isNested(item) ? `${name}[${at}]` : name, item));
    else if (isNested(value)) for (const [key, member] of Object.entries(value)) add(`${name}[${key}]`, member);
    // Only a multipart form has files.
    else form.append(name, toFieldValue(value as FieldValue) as string);
  };
  for (const [name, value] of Object.entries(Object(fields))) add(name, value);
  return form;
}

type FieldValue = Blob | Date | string | number | bigint | boolean | null;

function toFieldValue(value: FieldValue): string | Blob {
  if (value instanceof Blob) return value;
  return value instanceof Date ? value.toJSON() : String(value);
}

function isNested(value: unknown): value is object {
  return typeof value === "object" && !(value instanceof Blob || value instanceof Date || value === null);
}

/** The types of the DOM lack the method, and so do some browsers, which do not send streams over HTTP/1.1 either. */
const STREAMS = ReadableStream as unknown as {
  readonly from: (source: AsyncIterable<Uint8Array>) => ReadableStream<Uint8Array>;
};

function isAsyncIterable(value: unknown): value is AsyncIterable<Uint8Array> {
  return Symbol.asyncIterator in Object(value);
}
