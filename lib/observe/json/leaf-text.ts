/**
 * The objects that a log shows as one word rather than as what they hold: errors, dates, URLs, bytes, boxed primitives.
 */
import { types } from "node:util";

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
