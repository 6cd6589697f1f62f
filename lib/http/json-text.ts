/**
 * The JSON text of an answer. `JSON.stringify` silently makes `{}` of a map, a set, an error or a promise. They are refused here.
 */

/** The names that the language gives to values whose content `JSON.stringify` does not see. */
const WITHOUT_JSON: ReadonlySet<string> = new Set([
  "Array Iterator",
  "ArrayBuffer",
  "AsyncGenerator",
  "Error",
  "FormData",
  "Generator",
  "Headers",
  "Map",
  "Map Iterator",
  "Promise",
  "RegExp",
  "Set",
  "Set Iterator",
  "URLSearchParams",
  "WeakMap",
  "WeakRef",
  "WeakSet",
]);

/** @throws TypeError for a value that is not JSON, and for one that holds such a value; it names the kind, never the content. */
export function jsonText(value: unknown): string {
  if (typeof value === "object" && value !== null && !isPlain(value)) refuseWithoutJson(value);
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) throw new TypeError(`a handler returned a ${typeof value}, which cannot be sent`);
  // The text of such a value inside another one. Most answers hold no empty object and are not walked a second time.
  if (text.includes("{}")) JSON.stringify(value, refuseMember);
  return text;
}

/** Whether `value` is an object literal or an array of this realm, as nearly all answers are. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === Array.prototype;
}

function refuseWithoutJson(value: object): void {
  const kind = kindWithoutJson(value);
  if (kind === undefined) return;
  throw new TypeError(`a handler returned ${named(kind)}, which cannot be sent; return an object, an array or text`);
}

function refuseMember(_key: string, member: unknown): unknown {
  if (typeof member !== "object" || member === null || isPlain(member)) return member;
  const kind = kindWithoutJson(member);
  if (kind === undefined) return member;
  const fix = kind === "Promise" ? "await it first" : "put an object or an array in its place";
  throw new TypeError(`a handler returned a value that holds ${named(kind)}, which cannot be sent; ${fix}`);
}

/** A `toJSON` of the application makes any value sendable. */
function kindWithoutJson(value: object): string | undefined {
  if (typeof (value as { toJSON?: unknown }).toJSON === "function") return undefined;
  if (value instanceof Error) return "Error";
  const kind = Object.prototype.toString.call(value).slice("[object ".length, -1);
  return WITHOUT_JSON.has(kind) ? kind : undefined;
}

function named(kind: string): string {
  return /^[AE]/.test(kind) ? `an ${kind}` : `a ${kind}`;
}
