/**
 * The JSON text of a response. For a map, an error, a promise or a `Response`, `JSON.stringify` silently returns `{}` or an object of
 * internal members. Such values are refused here, wherever they occur in the value.
 */
import { types } from "node:util";
import { hasMethod, isBlob, isBytes, describeKind, getTag } from "./web-values.js";

/** The tags of values whose content `JSON.stringify` does not see, although a subclass may have members that it does see. */
const WITHOUT_JSON: ReadonlySet<string> = new Set([
  "ArrayBuffer",
  "DataView",
  "Error",
  "FormData",
  "Headers",
  "Map",
  "Promise",
  "RegExp",
  "Set",
  "SharedArrayBuffer",
  "URLSearchParams",
  "WeakMap",
  "WeakRef",
  "WeakSet",
]);

/** The tags of values that JSON shows whole, also when they have no member. */
const WITH_JSON: ReadonlySet<string> = new Set(["Object", "Array", "Arguments", "Boolean", "Number", "String"]);

/** A query builder, as Kysely has them: without members, so that JSON would show `{}`. */
const QUERY = "query that was not executed";
const ADD_EXECUTE = "add .execute()";

/** The fixes for values inside a returned value, by kind. */
const MEMBER_FIXES: ReadonlyMap<string, string> = new Map([
  ["Promise", "await it first"],
  [QUERY, ADD_EXECUTE],
]);

/**
 * @throws TypeError for a value that is not JSON, and for one that contains such a value; the message names the kind, never the content.
 */
export function toJsonText(value: unknown): string {
  const isObject = typeof value === "object" && value !== null;
  // Nearly every returned value is a literal, which needs no further call.
  if (isObject && Object.getPrototypeOf(value) !== Object.prototype && !isPlain(value)) rejectWithoutJson(value);
  const text = stringify(value);
  if (text === undefined)
    throw new TypeError(
      `a handler returned a ${typeof value}, which cannot be sent; return an object, an array or text`,
    );
  // `stringify` has refused values with a cycle, so this check ends.
  if (isObject) checkMembers(value, text.includes("{}"));
  return text;
}

function stringify(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    const path = cause instanceof TypeError ? findBigint(value, "", new Set()) : undefined;
    if (path === undefined) throw cause;
    const place = path === "" ? "a bigint" : `a value with a bigint at ${path.slice(1)}`;
    throw new TypeError(`a handler returned ${place}, which JSON cannot hold; return String(…) of it`, { cause });
  }
}

/** The place of a bigint, `.order.id`. */
function findBigint(value: unknown, path: string, seen: Set<object>): string | undefined {
  if (typeof value === "bigint") return path;
  if (typeof value !== "object" || value === null || seen.has(value)) return undefined;
  seen.add(value);
  for (const [name, member] of Object.entries(value)) {
    const found = findBigint(member, `${path}.${name}`, seen);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether `value` is an object literal or an array of this realm, as nearly all returned values are. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === Array.prototype;
}

/**
 * Whether `value` is data, as nearly every object is. A literal with one of these members may be a stream, an iterable, or a value of
 * `fetch`.
 */
export function isPlainData(value: unknown): boolean {
  if (typeof value !== "object" || value === null || !isPlain(value)) return false;
  return !("pipe" in value) && !(Symbol.asyncIterator in value) && !("getReader" in value) && !("arrayBuffer" in value);
}

function rejectWithoutJson(value: object): void {
  const kind = findKindWithoutJson(value);
  if (kind === undefined) return;
  const fix = kind === QUERY ? ADD_EXECUTE : "return an object, an array or text";
  throw new TypeError(`a handler returned ${addArticle(kind)}, which cannot be sent; ${fix}`);
}

/**
 * Checks the members that JSON shows. It runs for every JSON response, so it makes no call for texts and numbers.
 *
 * @param hasEmptyObject whether the text may have an empty object, or a string with its characters: only then a `toJSON` is called a
 * second time, to check its result
 */
function checkMembers(value: object, hasEmptyObject: boolean): void {
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      const member: unknown = value[at];
      if (typeof member === "object" && member !== null) checkMember(member, hasEmptyObject);
    }
  } else if (typeof (value as { toJSON?: unknown }).toJSON === "function") {
    if (hasEmptyObject && !types.isDate(value) && hasToJson(value)) checkResult(value.toJSON(""));
  } else {
    const isLiteral = Object.getPrototypeOf(value) === Object.prototype;
    for (const name in value) {
      const member = (value as Record<string, unknown>)[name];
      if (typeof member !== "object" || member === null) continue;
      // As in JSON, only members of the object itself count.
      if (isLiteral || Object.hasOwn(value, name)) checkMember(member, hasEmptyObject);
    }
  }
}

function checkMember(member: object, hasEmptyObject: boolean): void {
  if (!isPlain(member) && !isSerializableError(member)) {
    const kind = findKindWithoutJson(member);
    if (kind !== undefined) {
      const fix = MEMBER_FIXES.get(kind) ?? "put an object or an array in its place";
      throw new TypeError(`a handler returned a value that holds ${addArticle(kind)}, which cannot be sent; ${fix}`);
    }
  }
  checkMembers(member, hasEmptyObject);
}

/** An error with enumerable own properties, such as one of http-errors: JSON shows these, and koa-error sends them. */
function isSerializableError(value: object): boolean {
  return (value instanceof Error || types.isNativeError(value)) && Object.keys(value).length > 0;
}

/** As in JSON, the `toJSON` of a result is not called. */
function checkResult(result: unknown): void {
  if (typeof result === "object" && result !== null && !hasToJson(result)) checkMember(result, true);
}

/** A `toJSON` of the application makes any value sendable. */
function hasToJson(value: object): value is { toJSON(key: string): unknown } {
  return typeof (value as { toJSON?: unknown }).toJSON === "function";
}

function findKindWithoutJson(value: object): string | undefined {
  if (hasToJson(value)) return undefined;
  if (value instanceof Error || types.isNativeError(value)) return "Error";
  if (hasMethod(value, "then")) return "Promise";
  if (hasMethod(value, "execute") && hasMethod(value, "compile")) return QUERY;
  const tag = getTag(value);
  if (WITHOUT_JSON.has(tag) || hasContentMethod(value)) return describeKind(value);
  if (WITH_JSON.has(tag) || isBytes(value)) return undefined;
  return Object.keys(value).length === 0 ? describeKind(value) : undefined;
}

/** Whether a method gives the content of the value: of an iterator, a body, a stream, or a form. */
function hasContentMethod(value: object): boolean {
  if (hasMethod(value, "next")) return Symbol.iterator in value || Symbol.asyncIterator in value;
  if (hasMethod(value, "arrayBuffer")) return isBlob(value) || hasMethod(value, "json");
  if (hasMethod(value, "getReader") || (hasMethod(value, "append") && hasMethod(value, "delete"))) return true;
  return hasMethod(value, "pipe") && hasMethod(value, "on");
}

function addArticle(kind: string): string {
  return /^[AEIO]/.test(kind) ? `an ${kind}` : `a ${kind}`;
}
