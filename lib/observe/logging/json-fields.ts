/**
 * Writes fields as JSON: keys sorted, and withheld where they are sensitive, at every depth (details 2.3 and 2.5).
 * There is no way around it: whatever the JSON log writes under a name went through here.
 */
import { types } from "node:util";
import {
  AFTER_OPEN_STRING,
  AFTER_VALUE,
  type Position,
  EncodedKey,
  KeyCache,
  type InheritedFields,
  type KeyList,
  LINE_START,
  OBJECT_START,
} from "./json-keys.js";
import { REDACTED } from "./redaction.js";
import {
  httpMessageFields,
  ValueWriter,
  type ObjectWriter,
  UNREADABLE,
  type Traversal,
  RawJson,
} from "./json-values.js";
import { SpanPath, needsNoEscape, jsonString } from "./json-text.js";

/**
 * The members of one JSON object, as far as they are written. Knows what the next one has to close.
 */
export class ObjectBuilder {
  #text = "";
  #last: Position;

  constructor(start: Position) {
    this.#last = start;
  }

  /** Adds the value if it is the one that the slot wrote last; `false` where it is not. */
  addAgain(slot: EncodedKey, value: unknown): boolean {
    const piece = slot.remembered(value, this.#last);
    if (piece === undefined) return false;
    this.#text = this.#text + piece;
    this.#last = typeof value === "string" ? AFTER_OPEN_STRING : AFTER_VALUE;
    return true;
  }

  /** @param value Must not need an escape. */
  addString(slot: EncodedKey, value: string): void {
    // One piece after the other, never a sum of two: trees that lean to one side are cheaper to write out.
    this.#text = this.#text + slot.prefix(this.#last, true) + value;
    slot.remember(value, this.#last, value);
    this.#last = AFTER_OPEN_STRING;
  }

  addJson(slot: EncodedKey, value: unknown, json: string): void {
    this.#text = this.#text + slot.prefix(this.#last, false) + json;
    if (typeof value !== "object" && typeof value !== "string") slot.remember(value, this.#last, json);
    this.#last = AFTER_VALUE;
  }

  /** The object, complete; `""` where it has no members. */
  close(): string {
    if (this.#text === "") return "";
    return this.#text + (this.#last === AFTER_OPEN_STRING ? '"}' : "}");
  }
}

/** Longer lists of keys are dictionaries, not shapes: to remember them would help no one. */
const MAX_REMEMBERED_KEYS = 64;

const WITHHELD = `"${REDACTED}"`;

export class FieldWriter implements ObjectWriter {
  readonly shapes: KeyCache;
  /** Where the paths of spans begin. */
  readonly outside = SpanPath.outside();
  readonly #values: ValueWriter = new ValueWriter(this);
  readonly #isSensitive: (name: string) => boolean;

  constructor(isSensitive: (name: string) => boolean) {
    this.#isSensitive = isSensitive;
    this.shapes = new KeyCache(isSensitive);
  }

  /** The beginning of a line, `{"fields":{…}`; `""` where there is not one field. */
  line(fields: object, inherited: InheritedFields = this.shapes.nothing): string {
    try {
      return this.#members(isPlain(fields) ? fields : record(fields), inherited, LINE_START);
    } catch {
      return this.#members({ fields: new RawJson(UNREADABLE) }, inherited, LINE_START);
    }
  }

  /** A value to be written later, as it would be written now. */
  freeze(name: string, value: unknown): unknown {
    if (this.#isSensitive(name)) return REDACTED;
    const json = typeof value === "object" ? this.#values.write(value) : undefined;
    return json === undefined ? value : new RawJson(json);
  }

  /** One value; `undefined` where it is to be omitted. */
  value(value: unknown): string | undefined {
    return this.#values.write(value);
  }

  object(fields: object, walk: Traversal): string {
    return this.#members(fields, this.shapes.nothing, OBJECT_START, walk) || "{}";
  }

  entries(entries: readonly (readonly [name: string, value: unknown])[], walk: Traversal): string {
    const texts = new Map<string, string>();
    for (const [name, value] of entries) this.#put(texts, name, () => value, walk);
    return this.#sorted(texts, OBJECT_START) || "{}";
  }

  #members(fields: object, inherited: InheritedFields, before: Position, walk?: Traversal): string {
    const own: unknown[] = [];
    const list = readPlainly(fields, inherited.start, own);
    if (list === undefined) return this.#membersOneByOne(fields, inherited, before, walk);
    const members = new ObjectBuilder(before);
    for (const slot of list.slots()) this.#add(members, slot, slot.pick(own, inherited.values), walk);
    return members.close();
  }

  #add(members: ObjectBuilder, slot: EncodedKey, value: unknown, walk: Traversal | undefined): void {
    if (members.addAgain(slot, value)) return;
    if (typeof value === "string" && needsNoEscape(value)) return members.addString(slot, value);
    const json = this.#values.write(value, walk);
    if (json !== undefined) members.addJson(slot, value, json);
  }

  /** For objects that inherit members, or hold what cannot be read, or very much: nothing is remembered of them. */
  #membersOneByOne(fields: object, { start, values }: InheritedFields, before: Position, walk?: Traversal): string {
    const texts = new Map<string, string>();
    start.inherited.forEach((name, index) => this.#put(texts, name, () => values[index], walk));
    for (const name of Object.keys(fields)) this.#put(texts, name, () => valueOf(fields, name), walk);
    return this.#sorted(texts, before);
  }

  #put(texts: Map<string, string>, name: string, read: () => unknown, walk: Traversal | undefined): void {
    const json = this.#isSensitive(name) ? WITHHELD : this.#read(read, walk);
    if (json !== undefined) texts.set(name, json);
  }

  #read(read: () => unknown, walk: Traversal | undefined): string | undefined {
    try {
      return this.#values.write(read(), walk);
    } catch {
      return UNREADABLE;
    }
  }

  #sorted(texts: ReadonlyMap<string, string>, before: Position): string {
    const members = new ObjectBuilder(before);
    for (const [name, json] of [...texts].toSorted(byName)) {
      members.addJson(new EncodedKey(jsonString(name), false, -1, -1), undefined, json);
    }
    return members.close();
  }
}

/** Reads the values into `own` and answers the list of their keys; `undefined` where that is not safe or not worth it. */
function readPlainly(fields: object, start: KeyList, own: unknown[]): KeyList | undefined {
  try {
    let list = start;
    for (const key in fields) {
      // Twice as fast here as `Object.hasOwn`.
      // oxlint-disable-next-line prefer-object-has-own
      if (own.length === MAX_REMEMBERED_KEYS || !Object.prototype.hasOwnProperty.call(fields, key)) return undefined;
      list = list.plus(key);
      own.push(valueOf(fields, key));
    }
    return list;
  } catch {
    return undefined;
  }
}

// An error in place of the fields is a mistake that must not lose the error; a message in their place must not show its headers.
function record(fields: object): object {
  return types.isNativeError(fields) ? { error: fields } : (httpMessageFields(fields) ?? fields);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

// An object with keys that are listed is a record of them.
function valueOf(fields: object, name: string): unknown {
  return (fields as Readonly<Record<string, unknown>>)[name];
}

function byName([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return a < b ? -1 : 1;
}
