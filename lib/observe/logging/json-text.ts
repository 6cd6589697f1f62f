/**
 * Text as JSON. Well-formed for every string, lone surrogates included; never cut.
 */

/** Up to here a loop is faster than the call into a regular expression. */
const SHORT = 16;
const QUOTATION_MARK = 0x22;
const BACKSLASH = 0x5c;
const FIRST_PRINTABLE = 0x20;
const FIRST_SURROGATE = 0xd800;
// One class of characters: one look at each, nothing to backtrack into.
// oxlint-disable-next-line no-control-regex
const TO_ESCAPE = /[\u0000-\u001f"\\\ud800-\udfff]/;

/** The string with its quotation marks, escaped where it must be. */
export function jsonString(text: string): string {
  return needsNoEscape(text) ? `"${text}"` : JSON.stringify(text);
}

/** Whether the string can stand between quotation marks as it is. May say no where yes would be right, never the reverse. */
export function needsNoEscape(text: string): boolean {
  const { length } = text;
  if (length > SHORT) return !TO_ESCAPE.test(text);
  for (let i = 0; i < length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < FIRST_PRINTABLE || unit === QUOTATION_MARK || unit === BACKSLASH || unit >= FIRST_SURROGATE)
      return false;
  }
  return true;
}

/** The same text, laid out in one piece: for what is put together once and written often. */
export function flattened(text: string): string {
  // A concatenation is a tree until someone reads it, as a number for example; from then on it is one piece.
  Number(text);
  return text;
}

// The names of the spans around an event, outermost first, as the lines show them. Remembered as a tree, because a program opens
// spans of the same few names for every request.

/** Names remembered below one span; a program that makes up more pays for each anew. */
const KEPT = 256;

export class SpanPath {
  /** The member that the names make of a line, and the same after a string that still lacks its closing quotation mark. */
  readonly spans: string;
  readonly spansAfterString: string;
  readonly #below = new Map<string, SpanPath>();

  private constructor(private readonly names: string) {
    this.spans = names === "" ? "" : flattened(`,"spans":[${names}]`);
    this.spansAfterString = flattened(`"${this.spans}`);
  }

  /** No span at all. */
  static outside(): SpanPath {
    return new SpanPath("");
  }

  /** The path one span further in. */
  below(name: string): SpanPath {
    return this.#below.get(name) ?? this.#make(name);
  }

  #make(name: string): SpanPath {
    const path = new SpanPath(this.names === "" ? jsonString(name) : `${this.names},${jsonString(name)}`);
    if (this.#below.size < KEPT) this.#below.set(name, path);
    return path;
  }
}

// A moment as log lines show it: RFC 3339, UTC, milliseconds, always `Z`.

/** The last moment a `Date` can be, in milliseconds since the Unix epoch. */
const LAST_MOMENT = 8.64e15;

/** The moment in whole milliseconds since the Unix epoch; the epoch itself for what is no moment at all. */
export function wholeMilliseconds(milliseconds: number): number {
  return Math.abs(milliseconds) <= LAST_MOMENT ? Math.floor(milliseconds) : 0;
}

export function timestamp(milliseconds: number): string {
  return new Date(wholeMilliseconds(milliseconds)).toISOString();
}
