/**
 * Writes fields as JSON: keys sorted, and sensitive ones redacted, at every depth. Every value that the JSON log writes under a name goes
 * through this class, so no value can bypass the redaction.
 */
import { types } from "node:util";
import { type InheritedFields, KeyCache, type KeyList } from "./json-key-cache.js";
import { EncodedKey, LINE_START, OBJECT_START, ObjectBuilder, type Position } from "./json-object.js";
import { findHttpMessageFields } from "./json-special-values.js";
import { toJsonString, needsNoEscape } from "./json-text.js";
import { type ObjectWriter, RawJson, type FieldTraversal, UNREADABLE, ValueWriter } from "./json-values.js";
import { REDACTED } from "./redaction.js";

/** An object with more keys is a dictionary: its list of keys does not repeat, so it is not remembered. */
const MAX_REMEMBERED_KEYS = 64;

const REDACTED_JSON = `"${REDACTED}"`;

export class FieldWriter implements ObjectWriter {
  readonly keyCache: KeyCache;
  private readonly values: ValueWriter = new ValueWriter(this);
  private readonly isSensitive: (name: string) => boolean;

  constructor(isSensitive: (name: string) => boolean) {
    this.isSensitive = isSensitive;
    this.keyCache = new KeyCache(isSensitive);
  }

  /** The start of a line, `{"fields":{…}`; `""` if there are no fields. */
  line(fields: object, inherited: InheritedFields = this.keyCache.nothingInherited): string {
    try {
      return this.members(isPlain(fields) ? fields : toFields(fields), inherited, LINE_START);
    } catch {
      return this.members({ fields: new RawJson(UNREADABLE) }, inherited, LINE_START);
    }
  }

  /** A value that gives the same JSON later as it gives now. */
  freeze(name: string, value: unknown): unknown {
    if (this.isSensitive(name)) return REDACTED;
    const json = typeof value === "object" ? this.values.write(value) : undefined;
    return json === undefined ? value : new RawJson(json);
  }

  /** The JSON of one value; `undefined` for values that JSON omits. */
  value(value: unknown): string | undefined {
    return this.values.write(value);
  }

  object(fields: object, traversal: FieldTraversal): string {
    return this.members(fields, this.keyCache.nothingInherited, OBJECT_START, traversal) || "{}";
  }

  entries(entries: readonly (readonly [name: string, value: unknown])[], traversal: FieldTraversal): string {
    const texts = new Map<string, string>();
    for (const [name, value] of entries) this.put(texts, name, () => value, traversal);
    return writeSortedObject(texts, OBJECT_START) || "{}";
  }

  private members(fields: object, inherited: InheritedFields, start: Position, traversal?: FieldTraversal): string {
    const own: unknown[] = [];
    const list = readOwnFields(fields, inherited.keys, own);
    if (list === undefined) return this.uncachedMembers(fields, inherited, start, traversal);
    const builder = new ObjectBuilder(start);
    for (const key of list.encodedKeys()) this.add(builder, key, key.valueFrom(own, inherited.values), traversal);
    return builder.finish();
  }

  private add(builder: ObjectBuilder, key: EncodedKey, value: unknown, traversal: FieldTraversal | undefined): void {
    if (builder.addRepeated(key, value)) return;
    if (typeof value === "string" && needsNoEscape(value)) return builder.addPlainString(key, value);
    const json = this.values.write(value, traversal);
    if (json !== undefined) builder.addJson(key, value, json);
  }

  /** For objects that have inherited members, unreadable members or very many members. They do not enter the key cache. */
  private uncachedMembers(
    fields: object,
    { keys, values }: InheritedFields,
    start: Position,
    traversal: FieldTraversal | undefined,
  ): string {
    const texts = new Map<string, string>();
    keys.inherited.forEach((name, index) => this.put(texts, name, () => values[index], traversal));
    for (const name of Object.keys(fields)) this.put(texts, name, () => getMember(fields, name), traversal);
    return writeSortedObject(texts, start);
  }

  private put(
    texts: Map<string, string>,
    name: string,
    read: () => unknown,
    traversal: FieldTraversal | undefined,
  ): void {
    const json = this.isSensitive(name) ? REDACTED_JSON : this.read(read, traversal);
    if (json !== undefined) texts.set(name, json);
  }

  private read(read: () => unknown, traversal: FieldTraversal | undefined): string | undefined {
    try {
      return this.values.write(read(), traversal);
    } catch {
      return UNREADABLE;
    }
  }
}

function writeSortedObject(texts: ReadonlyMap<string, string>, start: Position): string {
  const builder = new ObjectBuilder(start);
  for (const [name, json] of [...texts].toSorted(compareNames)) {
    builder.addJson(new EncodedKey(toJsonString(name), false, -1, -1), undefined, json);
  }
  return builder.finish();
}

/**
 * Reads the values into `own` and returns the list of their keys; `undefined` if a member is inherited or unreadable, or there are too
 * many.
 */
function readOwnFields(fields: object, inherited: KeyList, own: unknown[]): KeyList | undefined {
  try {
    let list = inherited;
    for (const key in fields) {
      // Twice as fast here as `Object.hasOwn`.
      // oxlint-disable-next-line prefer-object-has-own
      if (own.length === MAX_REMEMBERED_KEYS || !Object.prototype.hasOwnProperty.call(fields, key)) return undefined;
      list = list.plus(key);
      own.push(getMember(fields, key));
    }
    return list;
  } catch {
    return undefined;
  }
}

// A caller may pass an error or an HTTP message in place of the fields. The error must not be lost, and the message's headers not shown.
function toFields(fields: object): object {
  return types.isNativeError(fields) ? { error: fields } : (findHttpMessageFields(fields) ?? fields);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

// An object whose keys were listed is a record of them.
function getMember(fields: object, name: string): unknown {
  return (fields as Readonly<Record<string, unknown>>)[name];
}

function compareNames([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return a < b ? -1 : 1;
}
