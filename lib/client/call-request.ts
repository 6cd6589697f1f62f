/**
 * The request of a call: its URL, its headers and its body. A value of a query, a header or a form has the one text that the server reads:
 * a number is decimal, a boolean is `true` or `false`, a list is a repeated name, and `undefined` is left out.
 */
import type { PathParameter } from "../endpoints/path.js";
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
  readonly signal?: AbortSignal;
  readonly redirect?: "manual";
  /** `fetch` demands it for a body that is a stream. */
  readonly duplex?: "half";
}

/** The path of an endpoint, which is filled for each call. */
export interface CallPath {
  /** The names of the captures, in their order. */
  readonly names: readonly string[];
  fill(...values: readonly PathParameter[]): string;
}

export function listNames(template: string): readonly string[] {
  return [...template.matchAll(/\{\*?(\w+)\}/g)].map(([, name = ""]) => name);
}

export function toUrl(origin: string, path: CallPath, { params = {}, query }: CallParts): string {
  const url = origin + path.fill(...path.names.map((name) => params[name] as PathParameter));
  if (query === undefined) return url;
  const search = fillForm(new URLSearchParams(), query).toString();
  return search === "" ? url : `${url}?${search}`;
}

/** @param added the headers of the client's options; those of the call replace them */
export function toInit(
  { method, body: contents, responses = {} }: ManifestEntry,
  parts: CallParts,
  added: object,
): CallInit {
  const headers = new Headers();
  for (const each of [added, parts.headers ?? {}]) {
    for (const name of Object.keys(each)) headers.delete(name);
    fillForm(headers, each);
  }
  return {
    method: method === "ANY" ? "GET" : method,
    headers,
    ...(contents !== undefined && parts.body !== undefined && encodeBody(contents, parts.body, headers)),
    ...(parts.signal && { signal: parts.signal }),
    ...(Object.values(responses).includes("redirect") && { redirect: "manual" }),
  };
}

/** The `Content-Type` of the call chooses between several contents; the first is the default. */
function encodeBody(
  contents: Readonly<Record<string, ManifestKind>>,
  body: unknown,
  headers: Headers,
): Pick<CallInit, "body" | "duplex"> {
  const given = headers.get("content-type") ?? Object.keys(contents)[0] ?? "";
  const kind = contents[given.split(";", 1)[0] ?? ""];
  // `fetch` adds the boundary of a multipart form.
  if (kind !== "multipart") headers.set("content-type", given);
  if (kind === "json") return { body: JSON.stringify(body) };
  if (kind === "form") return { body: fillForm(new URLSearchParams(), body) };
  if (kind === "multipart") return { body: fillForm(new FormData(), body) };
  if (isAsyncIterable(body)) return { body: STREAMS.from(body), duplex: "half" };
  // The type of the call allows a text or bytes here.
  return { body: body as NonNullable<RequestInit["body"]> };
}

function fillForm<T extends FormData | Headers | URLSearchParams>(form: T, body: unknown): T {
  if (body instanceof FormData && form instanceof FormData) return body as T;
  // Only a multipart form has files.
  appendFields(body as object, (name, value) => form.append(name, value as string));
  return form;
}

/** Lists of objects have their index in the name, as `links[0][url]`; other lists repeat the name. */
function appendFields(fields: object, append: (name: string, value: string | Blob) => void): void {
  const add = (name: string, value: unknown): void => {
    if (value === undefined) return;
    if (Array.isArray(value)) value.forEach((item, at) => add(isNested(item) ? `${name}[${at}]` : name, item));
    else if (isNested(value)) for (const [key, member] of Object.entries(value)) add(`${name}[${key}]`, member);
    else append(name, toFieldValue(value as FieldValue));
  };
  for (const [name, value] of Object.entries(fields)) add(name, value);
}

type FieldValue = Blob | Date | string | number | bigint | boolean | null;

function toFieldValue(value: FieldValue): string | Blob {
  if (value instanceof Blob) return value;
  return value instanceof Date ? value.toJSON() : String(value);
}

function isNested(value: unknown): value is object {
  return typeof value === "object" && value !== null && !(value instanceof Blob || value instanceof Date);
}

/** The types of the DOM lack the method, and so do some browsers, which do not send streams over HTTP/1.1 either. */
const STREAMS = ReadableStream as unknown as {
  readonly from: (source: AsyncIterable<Uint8Array>) => ReadableStream<Uint8Array>;
};

function isAsyncIterable(value: unknown): value is AsyncIterable<Uint8Array> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}
