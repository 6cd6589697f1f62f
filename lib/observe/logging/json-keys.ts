/**
 * One key of a known list of keys: where its value comes from, and what is written around it. A slot also remembers the
 * value it wrote last, because most fields (a method, a status, the fields of a span) come again with the next line.
 *
 * A line is put together from pieces, and every piece costs once more when the line is written out. So a prefix holds
 * all punctuation between two values, quotation marks included, and a value that comes again is one piece with it.
 */
import { copiedString } from "../copied-string.js";
import { REDACTED } from "./redaction.js";
import { flattened, jsonString } from "./json-text.js";

/** What stands before a slot, as it decides what has to be closed and opened. */
export type Position = 0 | 1 | 2 | 3;
/** Nothing: the object begins here. */
export const OBJECT_START: Position = 0;
/** Nothing: the line begins here, and `fields` with it. */
export const LINE_START: Position = 1;
/** A value that is complete. */
export const AFTER_VALUE: Position = 2;
/** A string that still lacks its closing quotation mark. */
export const AFTER_OPEN_STRING: Position = 3;

const PUNCTUATION = ["{", '{"fields":{', ",", '",'] as const;
const REMEMBERED_LENGTH = 64;
/** After so many values that did not come again, looking for one is given up for so many lines. */
const DISAPPOINTMENTS = 16;
const PAUSE = 256;
const NEVER = Symbol("no value yet");

export class EncodedKey {
  readonly #key: string;
  readonly #withheld: boolean;
  readonly #own: number;
  readonly #inherited: number;
  readonly #prefixes: (string | undefined)[] = [];
  // The value written last, what stood before it, its text, and both as one piece once it has come again.
  #value: unknown = NEVER;
  #before: Position = OBJECT_START;
  #text = "";
  #piece: string | undefined;
  #disappointments = 0;
  #pause = 0;

  /**
   * @param key As JSON text.
   * @param own Which of the fields' values is meant, -1 for none.
   * @param inherited Which of the inherited values is meant where there is no own one, -1 for none.
   */
  constructor(key: string, withheld: boolean, own: number, inherited: number) {
    this.#key = key;
    this.#withheld = withheld;
    this.#own = own;
    this.#inherited = inherited;
  }

  /** The value to write; a field that would be omitted leaves its place to the inherited one. */
  pick(own: readonly unknown[], inherited: readonly unknown[]): unknown {
    if (this.#withheld) return REDACTED;
    const value = this.#own < 0 ? undefined : own[this.#own];
    return isOmitted(value) && this.#inherited >= 0 ? inherited[this.#inherited] : value;
  }

  /** Key and value in one piece, where the value is the one of the line before. */
  remembered(value: unknown, before: Position): string | undefined {
    if (this.#pause > 0 || value !== this.#value || before !== this.#before) return undefined;
    this.#disappointments = 0;
    return (this.#piece ??= flattened(this.prefix(before, typeof value === "string") + this.#text));
  }

  /** For values that are equal only when their text is: no objects; and of strings those that need no escape. */
  remember(value: unknown, before: Position, text: string): void {
    if (this.#pause > 0) this.#pause--;
    else if (text.length <= REMEMBERED_LENGTH) this.#keep(value, before, text);
  }

  #keep(value: unknown, before: Position, text: string): void {
    this.#disappointments++;
    if (this.#disappointments === DISAPPOINTMENTS) this.#giveUp();
    this.#text = copiedString(text);
    this.#value = typeof value === "string" ? this.#text : value;
    this.#before = before;
    this.#piece = undefined;
  }

  #giveUp(): void {
    this.#disappointments = 0;
    this.#pause = PAUSE;
  }

  /** Everything from the value before to this one; with `quoted`, the opening quotation mark as well. */
  prefix(before: Position, quoted: boolean): string {
    return (this.#prefixes[quoted ? before + PUNCTUATION.length : before] ??= this.#makePrefix(before, quoted));
  }

  #makePrefix(before: Position, quoted: boolean): string {
    return flattened(`${PUNCTUATION[before]}${this.#key}:${quoted ? '"' : ""}`);
  }
}

/** Whether details 2.3 leave a field of this value out. */
export function isOmitted(value: unknown): boolean {
  return value === undefined || typeof value === "function" || typeof value === "symbol";
}

// Remembers the lists of keys that fields come with: their sorted order, their escaped form and whether each is withheld.
// A program logs the same few hundred lists over and over, so that sorting, escaping and judging names happens once for
// each and not once a line. What is remembered is bounded, because keys may come from outside: when it is too much,
// everything is forgotten and learnt anew.

/** In characters, roughly. */
const BUDGET = 1 << 21;
const COST_OF_A_NODE = 64;
const COST_OF_A_SLOT = 256;

/** A list of keys: those inherited, then those of the fields themselves, in the order they came in. */
export class KeyList {
  readonly #shapes: KeyCache;
  #lastKey: string | undefined;
  #lastList: KeyList | undefined;
  #longer: Map<string, KeyList> | undefined;
  #border: KeyList | undefined;
  #slots: readonly EncodedKey[] | undefined;

  constructor(
    shapes: KeyCache,
    readonly inherited: readonly string[],
    readonly keys: readonly string[],
  ) {
    this.#shapes = shapes;
  }

  /** The same list with `key` added. */
  plus(key: string): KeyList {
    return this.#lastKey === key && this.#lastList !== undefined ? this.#lastList : this.#find(key);
  }

  /** The list that inherits the keys of this one, and has none of its own yet. */
  border(): KeyList {
    return (this.#border ??= new KeyList(this.#shapes, this.keys, []));
  }

  /** What to write, in order: sorted by UTF-16 code unit, each key once. */
  slots(): readonly EncodedKey[] {
    return (this.#slots ??= this.#makeSlots());
  }

  #find(key: string): KeyList {
    this.#longer ??= new Map();
    const list = this.#longer.get(key) ?? this.#add(key, this.#longer);
    this.#lastKey = key;
    this.#lastList = list;
    return list;
  }

  #add(key: string, longer: Map<string, KeyList>): KeyList {
    const list = new KeyList(this.#shapes, this.inherited, [...this.keys, key]);
    longer.set(key, list);
    this.#shapes.spend(COST_OF_A_NODE + key.length + list.keys.length);
    return list;
  }

  #makeSlots(): readonly EncodedKey[] {
    const names = [...new Set([...this.inherited, ...this.keys])].toSorted();
    this.#shapes.spend(names.reduce((cost, name) => cost + COST_OF_A_SLOT + 4 * name.length, 0));
    return names.map(
      (name) =>
        new EncodedKey(
          jsonString(name),
          this.#shapes.isSensitive(name),
          this.keys.indexOf(name),
          this.inherited.indexOf(name),
        ),
    );
  }
}

/** What fields inherit: a list of keys at its border, and their values in the order of the list. */
export interface InheritedFields {
  readonly start: KeyList;
  readonly values: readonly unknown[];
}

export class KeyCache {
  readonly isSensitive: (name: string) => boolean;
  #root: KeyList;
  #nothing: InheritedFields;
  #spent = 0;

  constructor(isSensitive: (name: string) => boolean) {
    this.isSensitive = isSensitive;
    this.#root = new KeyList(this, [], []);
    this.#nothing = { start: this.#root.border(), values: [] };
  }

  /** The empty list. Another object once everything was forgotten. */
  get root(): KeyList {
    return this.#root;
  }

  /** What fields inherit outside any span. */
  get nothing(): InheritedFields {
    return this.#nothing;
  }

  /** Pays for something remembered; beyond the budget everything is forgotten. */
  spend(cost: number): void {
    this.#spent += cost;
    if (this.#spent > BUDGET) this.forget();
  }

  /** For when names are judged otherwise than before. */
  forget(): void {
    this.#root = new KeyList(this, [], []);
    this.#nothing = { start: this.#root.border(), values: [] };
    this.#spent = 0;
  }
}
