/**
 * Writes fields, and any other value, as JSON: keys sorted, and sensitive ones redacted, at every depth. Every value under a name goes
 * through `member`, so no value can bypass the redaction. The result is always valid and complete down to the maximum depth.
 */
import { types } from "node:util";
import { copyString } from "../copy-string.js";
import { findHttpMessageFields, listElements, toRecord, toSpecialValue } from "./json-special-values.js";
import { REDACTED } from "./redaction.js";

const MAX_DEPTH = 64;
/** Objects in one field. Shared references can unfold to more text than any memory holds. */
const MAX_OBJECTS = 1 << 20;
/** An array longer than this is checked for holes before its elements are read. */
const MAX_UNCHECKED_LENGTH = 1 << 20;
/** A program logs the same few hundred names again and again. The memory is bounded, because names may come from outside. */
const MAX_REMEMBERED_KEYS = 2048;
const MAX_REMEMBERED_LENGTH = 128;
/** For up to this number of names an insertion sort takes half the time of the sort of the engine. */
const MAX_INSERTED_NAMES = 16;

const UNREADABLE = '"[unreadable]"';
const CIRCULAR = '"[circular]"';
const TOO_DEEP = '"[too deep]"';

/** One member of an object, as JSON. */
export interface WrittenMember {
  readonly name: string;
  /** With the comma before it. */
  readonly text: string;
}

/** The text of a name with its colon, as the first and as a later member of an object. A sensitive name has the marker as its value. */
interface Key {
  readonly first: string;
  readonly later: string;
  readonly isSensitive: boolean;
}

export class FieldWriter {
  private readonly keys = new Map<string, Key>();

  constructor(private readonly isSensitive: (name: string) => boolean) {}

  /**
   * The object of the fields of an event; `""` if it has no members.
   *
   * @param inherited The members of the spans around the event, sorted.
   */
  fields(fields: object, inherited: readonly WrittenMember[]): string {
    try {
      return this.members(isPlainObjectOrArray(fields) ? fields : toFields(fields), undefined, inherited);
    } catch {
      return this.members({ fields: new RawJson(UNREADABLE) }, undefined, inherited);
    }
  }

  /** The members of the fields of a span and of the spans around it, sorted. */
  inherit(fields: object, inherited: readonly WrittenMember[]): readonly WrittenMember[] {
    const own: WrittenMember[] = [];
    for (const name of sortNames(Object.keys(fields))) {
      const key = this.keys.get(name) ?? this.addKey(name);
      const json = this.member(key, fields, name, undefined);
      if (json !== undefined) own.push({ name, text: key.later + json });
    }
    return inherited.length === 0 ? own : merge(inherited, own);
  }

  /** A value that gives the same JSON later as it gives now. */
  freeze(name: string, value: unknown): unknown {
    if (typeof value !== "object" || value === null || this.isSensitive(name)) return value;
    const json = this.value(value);
    return json === undefined ? undefined : new RawJson(json);
  }

  /** The JSON of one value; `undefined` for values that JSON omits. */
  value(value: unknown, traversal?: FieldTraversal): string | undefined {
    switch (typeof value) {
      case "string":
        return toJsonString(value);
      case "number":
        return Number.isFinite(value) ? `${value}` : "null";
      case "boolean":
      case "bigint":
        return `${value}`;
      case "object":
        return value === null ? "null" : this.object(value, traversal ?? new FieldTraversal());
      default:
        return undefined;
    }
  }

  /**
   * The own enumerable members and the inherited ones in braces, sorted by UTF-16 code unit; `""` if there are none. A member that JSON
   * omits does not hide an inherited one.
   */
  private members(fields: object, traversal: FieldTraversal | undefined, inherited: readonly WrittenMember[]): string {
    let text = "";
    let at = 0;
    for (const name of sortNames(Object.keys(fields))) {
      const key = this.keys.get(name) ?? this.addKey(name);
      const json = this.member(key, fields, name, traversal);
      if (json === undefined) continue;
      for (let next = inherited[at]; next !== undefined && next.name < name; next = inherited[++at])
        text = addMember(text, next);
      if (inherited[at]?.name === name) at++;
      // Each piece is appended by itself: the engine writes out a tree that leans to one side faster than a balanced one.
      text = text + (text === "" ? key.first : key.later) + json;
    }
    for (let next = inherited[at]; next !== undefined; next = inherited[++at]) text = addMember(text, next);
    return text === "" ? "" : `${text}}`;
  }

  private member(key: Key, fields: object, name: string, traversal: FieldTraversal | undefined): string | undefined {
    return key.isSensitive ? "" : this.read(fields, name, traversal);
  }

  private read(fields: object, name: string | number, traversal: FieldTraversal | undefined): string | undefined {
    try {
      // An object whose keys were listed is a record of them.
      return this.value((fields as Readonly<Record<string | number, unknown>>)[name], traversal);
    } catch {
      return UNREADABLE;
    }
  }

  private addKey(name: string): Key {
    const isSensitive = this.isSensitive(name);
    const text = `${toJsonString(name)}:${isSensitive ? `"${REDACTED}"` : ""}`;
    const key = { first: flatten(`{${text}`), later: flatten(`,${text}`), isSensitive };
    if (name.length > MAX_REMEMBERED_LENGTH) return key;
    if (this.keys.size >= MAX_REMEMBERED_KEYS) this.keys.clear();
    const copy = copyString(name);
    // The copy of a name with a lone surrogate is another name.
    if (copy === name) this.keys.set(copy, key);
    return key;
  }

  private object(value: object, traversal: FieldTraversal): string | undefined {
    try {
      const isOrdinary = isPlainObjectOrArray(value);
      const special = isOrdinary ? undefined : this.special(value, traversal);
      return special ?? traversal.enter(value) ?? this.entered(value, traversal, isOrdinary);
    } catch {
      return UNREADABLE;
    }
  }

  private special(value: object, traversal: FieldTraversal): string | undefined {
    const json = RawJson.of(value);
    if (json !== undefined) return json;
    const primitive = toSpecialValue(value, (cause) => this.value(cause, traversal) ?? UNREADABLE);
    return primitive === undefined ? undefined : this.value(primitive);
  }

  private entered(value: object, traversal: FieldTraversal, isOrdinary: boolean): string | undefined {
    try {
      const message = isOrdinary ? undefined : findHttpMessageFields(value);
      if (message !== undefined) return this.record(message, traversal);
      // The member may have any type; the next line checks that it is a function.
      const { toJSON } = value as { readonly toJSON?: unknown };
      if (typeof toJSON === "function") return this.converted(value, toJSON.call(value, ""), traversal);
      return this.container(value, traversal);
    } finally {
      traversal.leave();
    }
  }

  /** As with `JSON.stringify`, the `toJSON` of a result is not called again. */
  private converted(value: object, result: unknown, traversal: FieldTraversal): string | undefined {
    if (result === value) return this.container(value, traversal);
    if (typeof result !== "object" || result === null) return this.value(result);
    return this.special(result, traversal) ?? traversal.enterSameLevel(result) ?? this.result(result, traversal);
  }

  private result(result: object, traversal: FieldTraversal): string {
    try {
      const message = isPlainObjectOrArray(result) ? undefined : findHttpMessageFields(result);
      return this.container(message ?? result, traversal);
    } finally {
      traversal.leaveSameLevel();
    }
  }

  // A sparse array is written as an object: a client can send an array of any length at no cost.
  private container(value: object, traversal: FieldTraversal): string {
    if (types.isMap(value)) return this.record(toRecord(value), traversal);
    if (types.isSet(value)) return this.array(listElements(value), traversal);
    const isArray = Array.isArray(value);
    const isSparse = isArray && value.length > MAX_UNCHECKED_LENGTH && Object.keys(value).length < value.length;
    return isArray && !isSparse ? this.array(value, traversal) : this.record(value, traversal);
  }

  private record(fields: object, traversal: FieldTraversal): string {
    return this.members(fields, traversal, []) || "{}";
  }

  private array(values: readonly unknown[], traversal: FieldTraversal): string {
    let text = "[";
    for (let i = 0; i < values.length; i++) {
      // A value that an object would omit keeps its index in an array.
      text = text + (i === 0 ? "" : ",") + (this.read(values, i, traversal) ?? "null");
    }
    return `${text}]`;
  }
}

/** Text that is JSON already and is written as it is. */
class RawJson {
  readonly #json: string;

  constructor(json: string) {
    this.#json = json;
  }

  /** The text, if `value` is a `RawJson`. The check does not touch the value, which may be a proxy. */
  static of(value: object): string | undefined {
    return #json in value ? value.#json : undefined;
  }
}

/** The path from a field down to the object that is being written. It bounds cycles, depth and the number of objects. */
class FieldTraversal {
  private readonly path: object[] = [];
  private depth = 0;
  private objects = 0;

  /** Goes one level down. If `value` must not be entered, returns the JSON to write instead. Each successful `enter` has its `leave`. */
  enter(value: object): string | undefined {
    const refusal = this.depth >= MAX_DEPTH && !this.path.includes(value) ? TOO_DEEP : this.enterSameLevel(value);
    if (refusal === undefined) this.depth++;
    return refusal;
  }

  leave(): void {
    this.depth--;
    this.leaveSameLevel();
  }

  /** As `enter`, without going down: for the result of `toJSON`, which takes the place of its object. */
  enterSameLevel(value: object): string | undefined {
    if (this.path.length > 0 && this.path.includes(value)) return CIRCULAR;
    if (++this.objects > MAX_OBJECTS) return UNREADABLE;
    this.path.push(value);
    return undefined;
  }

  leaveSameLevel(): void {
    this.path.pop();
  }
}

function addMember(text: string, { text: member }: WrittenMember): string {
  return text === "" ? `{${member.slice(1)}` : text + member;
}

/** Both lists are sorted. A member of `inner` replaces one of the same name. */
function merge(outer: readonly WrittenMember[], inner: readonly WrittenMember[]): readonly WrittenMember[] {
  const members: WrittenMember[] = [];
  let at = 0;
  for (const member of inner) {
    for (let next = outer[at]; next !== undefined && next.name < member.name; next = outer[++at]) members.push(next);
    if (outer[at]?.name === member.name) at++;
    members.push(member);
  }
  for (let next = outer[at]; next !== undefined; next = outer[++at]) members.push(next);
  return members;
}

/** The names by UTF-16 code unit. May sort in place. */
function sortNames(names: string[]): string[] {
  if (names.length > MAX_INSERTED_NAMES) return names.toSorted();
  for (let end = 1, name = names[end]; name !== undefined; name = names[++end]) {
    let at = end;
    for (let before = names[at - 1]; before !== undefined && before > name; before = names[--at - 1])
      names[at] = before;
    names[at] = name;
  }
  return names;
}

/** True for objects that need none of the special cases. */
function isPlainObjectOrArray(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === Array.prototype || prototype === null;
}

// A caller may pass an error or an HTTP message in place of the fields. The error must not be lost, and the message's headers not shown.
function toFields(fields: object): object {
  return types.isNativeError(fields) ? { error: fields } : (findHttpMessageFields(fields) ?? fields);
}

/** For strings up to this length, a loop is faster than a regular expression. */
const MAX_LOOP_LENGTH = 16;
const QUOTATION_MARK = 0x22;
const BACKSLASH = 0x5c;
const FIRST_PRINTABLE = 0x20;
const FIRST_SURROGATE = 0xd800;
// One class of characters, so the pattern does not backtrack.
// oxlint-disable-next-line no-control-regex
const NEEDS_ESCAPE = /[\u0000-\u001f"\\\ud800-\udfff]/;

/** The string with its quotation marks, escaped where necessary: well-formed for every string, and never cut. */
export function toJsonString(text: string): string {
  return needsEscape(text) ? JSON.stringify(text) : `"${text}"`;
}

/** May be true for some strings that need no escape. */
function needsEscape(text: string): boolean {
  const { length } = text;
  if (length > MAX_LOOP_LENGTH) return NEEDS_ESCAPE.test(text);
  for (let i = 0; i < length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < FIRST_PRINTABLE || unit === QUOTATION_MARK || unit === BACKSLASH || unit >= FIRST_SURROGATE) return true;
  }
  return false;
}

/** The same text in one piece of memory: for text that is put together once and written often. */
function flatten(text: string): string {
  // The engine stores a concatenation as a tree until code reads it, here as a number. After that it is one piece.
  Number(text);
  return text;
}
