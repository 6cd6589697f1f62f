/**
 * The objects that a log does not show as what they hold: errors, dates, URLs, bytes and boxed primitives are one word; an HTTP message
 * is its method, its path and its status.
 */
import { types } from "node:util";
import { pathOf } from "../../http/request-target.js";

const UNREADABLE = "[unreadable]";

/**
 * What stands for `value` in a log; `undefined` where it is none of these. May throw whatever the value throws.
 * @param other How to show a cause that is an object but no error.
 */
export function leafOf(
  value: object,
  other: (cause: object) => string,
): string | number | bigint | boolean | null | undefined {
  if (isError(value)) return errorText(value, other);
  if (types.isDate(value)) return dateText(value);
  if (value instanceof URL) return value.href;
  if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)) return `[${value.byteLength} bytes]`;
  return types.isBoxedPrimitive(value) ? unboxed(value) : undefined;
}

/** The members of Node's, Koa's and fetch's messages that are read; a message has some of them. */
interface Message {
  readonly method?: unknown;
  readonly url?: unknown;
  /** Of a request that a client of Node makes. */
  readonly path?: unknown;
  readonly status?: unknown;
  readonly statusCode?: unknown;
  /** The request that a response belongs to. */
  readonly req?: unknown;
}

/**
 * What stands for an HTTP message in a log, without its query, its headers and its body; `undefined` where `value` is none. May throw
 * what the value throws.
 */
export function messageOf(value: object): object | undefined {
  if (!isMessage(value)) return undefined;
  const request = requestOf(value);
  const target = textIn(request?.url) ?? textIn(request?.path);
  return {
    method: textIn(request?.method),
    path: target === undefined ? undefined : pathOf(target),
    status: numberIn(value.status) ?? numberIn(value.statusCode),
  };
}

/** Asks which members there are and reads none: some getters of Koa's context hand out Node's objects, which has effects. */
function isMessage(value: object): value is Message {
  if (!("headers" in value || "getHeaders" in value)) return false;
  return "status" in value || "statusCode" in value || ("method" in value && ("url" in value || "path" in value));
}

/** `req` is read of a response only: that of a context has effects. */
function requestOf(message: Message): Message | undefined {
  if (typeof message.method === "string") return message;
  const { req } = message;
  return typeof req === "object" && req !== null ? req : undefined;
}

function textIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function numberIn(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function isError(value: object): value is Error {
  return types.isNativeError(value) || value instanceof Error;
}

function dateText(date: Date): string | null {
  return Number.isNaN(Date.prototype.getTime.call(date)) ? null : Date.prototype.toISOString.call(date);
}

function unboxed(value: object): string | number | bigint | boolean | undefined {
  if (types.isStringObject(value)) return String.prototype.valueOf.call(value);
  if (types.isNumberObject(value)) return Number.prototype.valueOf.call(value);
  if (types.isBooleanObject(value)) return Boolean.prototype.valueOf.call(value);
  return types.isBigIntObject(value) ? BigInt.prototype.valueOf.call(value) : undefined;
}

/** The error and its causes, to the bottom. */
function errorText(error: Error, other: (cause: object) => string): string {
  const seen = new Set<unknown>();
  const texts: string[] = [];
  let current: unknown = error;
  while (current !== undefined && current !== null && !seen.has(current)) {
    seen.add(current);
    const text = textOf(current, other);
    texts.push(text);
    current = text === UNREADABLE ? undefined : causeOf(current);
  }
  if (seen.has(current)) texts.push("[circular]");
  return texts.join(": caused by ");
}

function textOf(cause: unknown, other: (cause: object) => string): string {
  try {
    return typeof cause === "object" && cause !== null && !isError(cause) ? other(cause) : String(cause);
  } catch {
    return UNREADABLE;
  }
}

function causeOf(value: unknown): unknown {
  try {
    return typeof value === "object" && value !== null && isError(value) ? value.cause : undefined;
  } catch {
    return UNREADABLE;
  }
}
