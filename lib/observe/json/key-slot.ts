/**
 * One key of a known list of keys: where its value comes from, and what is written around it. A slot also remembers the
 * value it wrote last, because most fields (a method, a status, the fields of a span) come again with the next line.
 *
 * A line is put together from pieces, and every piece costs once more when the line is written out. So a prefix holds
 * all punctuation between two values, quotation marks included, and a value that comes again is one piece with it.
 */
import { ownText } from "../../kernel/own-text.js";
import { REDACTED } from "../redact.js";
import { oneText } from "./text.js";

/** What stands before a slot, as it decides what has to be closed and opened. */
export type Before = 0 | 1 | 2 | 3;
/** Nothing: the object begins here. */
export const NESTED_START: Before = 0;
/** Nothing: the line begins here, and `fields` with it. */
export const LINE_START: Before = 1;
/** A value that is complete. */
export const AFTER_VALUE: Before = 2;
/** A string that still lacks its closing quotation mark. */
export const AFTER_STRING: Before = 3;

const PUNCTUATION = ["{", '{"fields":{', ",", '",'] as const;
const REMEMBERED_LENGTH = 64;
/** After so many values that did not come again, looking for one is given up for so many lines. */
const DISAPPOINTMENTS = 16;
const PAUSE = 256;
const NEVER = Symbol("no value yet");

export class Slot {
  readonly #key: string;
  readonly #withheld: boolean;
  readonly #own: number;
  readonly #inherited: number;
  readonly #prefixes: (string | undefined)[] = [];
  // The value written last, what stood before it, its text, and both as one piece once it has come again.
  #value: unknown = NEVER;
  #before: Before = NESTED_START;
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
  remembered(value: unknown, before: Before): string | undefined {
    if (this.#pause > 0 || value !== this.#value || before !== this.#before) return undefined;
    this.#disappointments = 0;
    return (this.#piece ??= oneText(this.prefix(before, typeof value === "string") + this.#text));
  }

  /** For values that are equal only when their text is: no objects; and of strings those that need no escape. */
  remember(value: unknown, before: Before, text: string): void {
    if (this.#pause > 0) this.#pause--;
    else if (text.length <= REMEMBERED_LENGTH) this.#keep(value, before, text);
  }

  #keep(value: unknown, before: Before, text: string): void {
    this.#disappointments++;
    if (this.#disappointments === DISAPPOINTMENTS) this.#giveUp();
    this.#text = ownText(text);
    this.#value = typeof value === "string" ? this.#text : value;
    this.#before = before;
    this.#piece = undefined;
  }

  #giveUp(): void {
    this.#disappointments = 0;
    this.#pause = PAUSE;
  }

  /** Everything from the value before to this one; with `quoted`, the opening quotation mark as well. */
  prefix(before: Before, quoted: boolean): string {
    return (this.#prefixes[quoted ? before + PUNCTUATION.length : before] ??= this.#makePrefix(before, quoted));
  }

  #makePrefix(before: Before, quoted: boolean): string {
    return oneText(`${PUNCTUATION[before]}${this.#key}:${quoted ? '"' : ""}`);
  }
}

/** Whether details 2.3 leave a field of this value out. */
export function isOmitted(value: unknown): boolean {
  return value === undefined || typeof value === "function" || typeof value === "symbol";
}
