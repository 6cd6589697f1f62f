/**
 * Values of the web platform, recognised by their members and not by their class: a package such as `undici`, `node-fetch` or
 * `@whatwg-node/fetch` has separate classes, and so does another V8 realm (`node:vm`). Not for values of a class that only one module has.
 */
import { types } from "node:util";

/** A `Response` of `fetch`. `node-fetch` has a Node stream as body, and no `getSetCookie`. */
export interface WebResponse {
  readonly status: number;
  readonly url?: string;
  readonly body: object | null;
  readonly headers: WebHeaders;
}

interface WebHeaders extends Iterable<readonly [string, string]> {
  get(name: string): string | null | undefined;
  getSetCookie?(): readonly string[];
  raw?(): Readonly<Record<string, readonly string[]>>;
}

export function isResponse(value: unknown): value is WebResponse {
  if (value instanceof Response) return true;
  if (!hasMethod(value, "arrayBuffer")) return false;
  const { status, headers } = value as Partial<WebResponse>;
  return typeof status === "number" && hasMethod(headers, "get") && hasMethod(headers, Symbol.iterator);
}

/** `node-fetch` joins the cookies of a response with commas, and keeps them apart in `raw`. */
export function getSetCookies({ headers }: WebResponse): readonly string[] {
  if (headers.getSetCookie !== undefined) return headers.getSetCookie();
  const joined = headers.get("set-cookie") ?? undefined;
  return headers.raw?.()["set-cookie"] ?? (joined === undefined ? [] : [joined]);
}

export function isBlob(value: unknown): value is Blob {
  if (value instanceof Blob) return true;
  if (!hasMethod(value, "arrayBuffer") || !hasMethod(value, "stream")) return false;
  const { size, type } = value as Partial<Blob>;
  return typeof size === "number" && typeof type === "string";
}

export function isWebStream(value: unknown): value is ReadableStream {
  return value instanceof ReadableStream || (hasMethod(value, "getReader") && hasMethod(value, "cancel"));
}

/** The chunks of a stream of another class, which the conversion of Node refuses. */
export function readChunks(stream: ReadableStream<unknown>): AsyncIterable<unknown> {
  return {
    [Symbol.asyncIterator](): AsyncIterator<unknown> {
      const reader = stream.getReader();
      const cancel = (): Promise<IteratorReturnResult<undefined>> =>
        Promise.resolve(reader.cancel()).then(() => ({ done: true, value: undefined }));
      return { next: () => reader.read() as Promise<IteratorResult<unknown>>, return: cancel };
    },
  };
}

/** Bytes in memory of any class and realm. */
export function isBytes(value: unknown): value is ArrayBufferView | ArrayBufferLike {
  return ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value);
}

/** Returns the tag of a value, or the name of its class if the tag says no more than `Object`. */
export function describeKind(value: object): string {
  const tag = getTag(value);
  if (tag !== "Object") return tag;
  const { constructor } = value as { readonly constructor?: unknown };
  return typeof constructor === "function" && constructor.name !== "" ? constructor.name : tag;
}

export function getTag(value: object): string {
  return Object.prototype.toString.call(value).slice("[object ".length, -1);
}

/** Whether the value has a method of that name, inherited or not. */
export function hasMethod(value: unknown, name: PropertyKey): value is object {
  return typeof value === "object" && value !== null && typeof Reflect.get(value, name) === "function";
}
