/**
 * Builds the text of one JSON object out of encoded keys and values.
 *
 * A string that is put together from pieces costs once for each piece when it is written out. So all punctuation between two values,
 * quotation marks included, is one piece, and a key with a value that comes again is one piece.
 */
import { copyString } from "../copy-string.js";
import { flatten } from "./json-text.js";
import { REDACTED } from "./redaction.js";

/** The output directly before a member. It decides which characters close the value before and open this member. */
export type Position = 0 | 1 | 2 | 3;
/** The start of an object. */
export const OBJECT_START: Position = 0;
/** The start of a log line and of its member `fields`. */
export const LINE_START: Position = 1;
/** A complete value. */
const AFTER_VALUE: Position = 2;
/** A string that still lacks its closing quotation mark. */
const AFTER_OPEN_STRING: Position = 3;

const PUNCTUATION = ["{", '{"fields":{', ",", '",'] as const;
const MAX_REMEMBERED_LENGTH = 64;
/** A key whose value changes this many times in a row stops remembering values for a while. */
const MAX_MISSES = 16;
/** The number of values in this pause that are not remembered. */
const PAUSE = 256;
const NO_VALUE = Symbol("no value yet");

/**
 * One key of a known list of keys: where its value comes from, and its text with all punctuation. It remembers the value that was written
 * last, because most fields (a method, a status, the fields of a span) repeat in the next line.
 */
export class EncodedKey {
  private readonly json: string;
  private readonly isRedacted: boolean;
  private readonly ownIndex: number;
  private readonly inheritedIndex: number;
  private readonly prefixes: (string | undefined)[] = [];
  // The last value, its position, its text, and key and value as one piece once the value has come again.
  private value: unknown = NO_VALUE;
  private position: Position = OBJECT_START;
  private text = "";
  private piece: string | undefined;
  private misses = 0;
  private pause = 0;

  /**
   * @param json The key as JSON text.
   * @param ownIndex Index of its value among the object's own values, -1 for none.
   * @param inheritedIndex Index of its value among the inherited values, -1 for none.
   */
  constructor(json: string, isRedacted: boolean, ownIndex: number, inheritedIndex: number) {
    this.json = json;
    this.isRedacted = isRedacted;
    this.ownIndex = ownIndex;
    this.inheritedIndex = inheritedIndex;
  }

  /** The value to write. An own value that JSON omits does not hide the inherited value. */
  valueFrom(own: readonly unknown[], inherited: readonly unknown[]): unknown {
    if (this.isRedacted) return REDACTED;
    const value = this.ownIndex < 0 ? undefined : own[this.ownIndex];
    return isOmitted(value) && this.inheritedIndex >= 0 ? inherited[this.inheritedIndex] : value;
  }

  /** Key and value in one piece, if the last call of `remember` had the same value and position. */
  recall(value: unknown, position: Position): string | undefined {
    if (this.pause > 0 || value !== this.value || position !== this.position) return undefined;
    this.misses = 0;
    return (this.piece ??= flatten(this.prefix(position, typeof value === "string") + this.text));
  }

  /** Only for values that are equal exactly when their text is: no objects, and no strings that need an escape. */
  remember(value: unknown, position: Position, text: string): void {
    if (this.pause > 0) this.pause--;
    else if (text.length <= MAX_REMEMBERED_LENGTH) this.replace(value, position, text);
  }

  private replace(value: unknown, position: Position, text: string): void {
    this.misses++;
    if (this.misses === MAX_MISSES) this.startPause();
    this.text = copyString(text);
    this.value = typeof value === "string" ? this.text : value;
    this.position = position;
    this.piece = undefined;
  }

  private startPause(): void {
    this.misses = 0;
    this.pause = PAUSE;
  }

  /** All text between the value before and this value; with `quoted`, the opening quotation mark as well. */
  prefix(position: Position, quoted: boolean): string {
    return (this.prefixes[quoted ? position + PUNCTUATION.length : position] ??= this.makePrefix(position, quoted));
  }

  private makePrefix(position: Position, quoted: boolean): string {
    return flatten(`${PUNCTUATION[position]}${this.json}:${quoted ? '"' : ""}`);
  }
}

/** The members of one object, as far as they are written. */
export class ObjectBuilder {
  private text = "";
  private position: Position;

  constructor(start: Position) {
    this.position = start;
  }

  /** Adds the value if it is the last value of the key; `false` if it is not. */
  addRepeated(key: EncodedKey, value: unknown): boolean {
    const piece = key.recall(value, this.position);
    if (piece === undefined) return false;
    this.text = this.text + piece;
    this.position = typeof value === "string" ? AFTER_OPEN_STRING : AFTER_VALUE;
    return true;
  }

  /** @param value A string that needs no escape. */
  addPlainString(key: EncodedKey, value: string): void {
    // Each piece is appended by itself: the engine writes out a tree that leans to one side faster than a balanced one.
    this.text = this.text + key.prefix(this.position, true) + value;
    key.remember(value, this.position, value);
    this.position = AFTER_OPEN_STRING;
  }

  /** @param json The text of `value`. */
  addJson(key: EncodedKey, value: unknown, json: string): void {
    this.text = this.text + key.prefix(this.position, false) + json;
    if (typeof value !== "object" && typeof value !== "string") key.remember(value, this.position, json);
    this.position = AFTER_VALUE;
  }

  /** The complete object; `""` if it has no members. */
  finish(): string {
    if (this.text === "") return "";
    return this.text + (this.position === AFTER_OPEN_STRING ? '"}' : "}");
  }
}

/** True for the values that JSON leaves out of an object. */
export function isOmitted(value: unknown): boolean {
  return value === undefined || typeof value === "function" || typeof value === "symbol";
}
