/**
 * Objects that a log does not show by their members: errors, dates, URLs, bytes and boxed primitives become one primitive, an HTTP message
 * becomes its method, its path and its status, and maps and sets become their elements.
 */
import { types } from "node:util";
import { getPath } from "../../http/request/request-target.js";

const UNREADABLE = "[unreadable]";

/** The members of Node's, Koa's and fetch's messages that are read. A message has some of them. */
interface HttpMessage {
  readonly method?: unknown;
  readonly url?: unknown;
  /** A member of the requests that a client of Node sends. */
  readonly path?: unknown;
  readonly status?: unknown;
  readonly statusCode?: unknown;
  /** The request that a response belongs to. */
  readonly req?: unknown;
}

/**
 * The primitive that a log shows for `value`; `undefined` if it is an ordinary object. May throw an error of `value`.
 *
 * @param showCause Shows a cause that is an object but no error.
 */
export function toSpecialValue(
  value: object,
  showCause: (cause: object) => string,
): string | number | bigint | boolean | null | undefined {
  if (isError(value)) return describeError(value, showCause);
  if (types.isDate(value)) return formatDate(value);
  if (value instanceof URL) return value.href;
  if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)) return `[${value.byteLength} bytes]`;
  return types.isBoxedPrimitive(value) ? unbox(value) : undefined;
}

/**
 * The fields that a log shows for an HTTP message, without its query, its headers and its body; `undefined` if `value` is not a message.
 * May throw an error of `value`.
 */
export function findHttpMessageFields(value: object): object | undefined {
  if (!isHttpMessage(value)) return undefined;
  const request = findRequest(value);
  const target = asString(request?.url) ?? asString(request?.path);
  return {
    method: asString(request?.method),
    path: target === undefined ? undefined : getPath(target),
    status: asNumber(value.status) ?? asNumber(value.statusCode),
  };
}

/** The entries of a map as members. A later entry replaces an earlier one of the same name. */
export function toRecord(map: ReadonlyMap<unknown, unknown>): object {
  // The method of the class itself, because a subclass may override it. So below.
  const record = Object.create(null) as Record<string, unknown>;
  Map.prototype.forEach.call(map, (value: unknown, key: unknown) => (record[toMemberName(key)] = value));
  return record;
}

export function listElements(set: ReadonlySet<unknown>): unknown[] {
  const elements: unknown[] = [];
  Set.prototype.forEach.call(set, (element: unknown) => elements.push(element));
  return elements;
}

function toMemberName(key: unknown): string {
  try {
    return String(key);
  } catch {
    return UNREADABLE;
  }
}

/** Checks which members exist and reads none: some getters of Koa's context give access to Node's objects, which has side effects. */
function isHttpMessage(value: object): value is HttpMessage {
  if (!("headers" in value || "getHeaders" in value)) return false;
  return "status" in value || "statusCode" in value || ("method" in value && ("url" in value || "path" in value));
}

/** `req` is read only from a response, because reading it on Koa's context has side effects. */
function findRequest(message: HttpMessage): HttpMessage | undefined {
  if (typeof message.method === "string") return message;
  const { req } = message;
  return typeof req === "object" && req !== null ? req : undefined;
}

function asString(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function asNumber(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function isError(value: object): value is Error {
  return types.isNativeError(value) || value instanceof Error;
}

function formatDate(date: Date): string | null {
  return Number.isNaN(Date.prototype.getTime.call(date)) ? null : Date.prototype.toISOString.call(date);
}

function unbox(value: object): string | number | bigint | boolean | undefined {
  if (types.isStringObject(value)) return String.prototype.valueOf.call(value);
  if (types.isNumberObject(value)) return Number.prototype.valueOf.call(value);
  if (types.isBooleanObject(value)) return Boolean.prototype.valueOf.call(value);
  return types.isBigIntObject(value) ? BigInt.prototype.valueOf.call(value) : undefined;
}

/** The error and the whole chain of its causes. */
function describeError(error: Error, showCause: (cause: object) => string): string {
  const seen = new Set<unknown>();
  const texts: string[] = [];
  let current: unknown = error;
  while (current !== undefined && current !== null && !seen.has(current)) {
    seen.add(current);
    const text = describeCause(current, showCause);
    texts.push(text);
    current = text === UNREADABLE ? undefined : getCause(current);
  }
  if (seen.has(current)) texts.push("[circular]");
  return texts.join(": caused by ");
}

function describeCause(cause: unknown, showCause: (cause: object) => string): string {
  try {
    return typeof cause === "object" && cause !== null && !isError(cause) ? showCause(cause) : String(cause);
  } catch {
    return UNREADABLE;
  }
}

function getCause(value: unknown): unknown {
  try {
    return typeof value === "object" && value !== null && isError(value) ? value.cause : undefined;
  } catch {
    return UNREADABLE;
  }
}
