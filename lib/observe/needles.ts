/**
 * Finds needles in field names the way redaction asks for: `-` and `.` count as `_`, A to Z count as a to z, nothing
 * else is folded, and a needle may stand anywhere in the name. Verdicts are remembered, because a program logs the same
 * few hundred names over and over; the memory is bounded, because names may come from outside.
 */
import { ownText } from "../kernel/own-text.js";

const REMEMBERED_NAMES = 2048;
const REMEMBERED_LENGTH = 128;

export class Needles {
  readonly #pattern: RegExp;
  readonly #verdicts = new Map<string, boolean>();

  /** @param needles None empty; folded like the names they are looked for in. */
  constructor(readonly needles: readonly string[]) {
    this.#pattern = new RegExp(needles.map(pattern).join("|"));
  }

  isIn(name: string): boolean {
    return this.#verdicts.get(name) ?? this.#judge(name);
  }

  #judge(name: string): boolean {
    const verdict = this.#pattern.test(name);
    if (name.length > REMEMBERED_LENGTH) return verdict;
    if (this.#verdicts.size >= REMEMBERED_NAMES) this.#verdicts.clear();
    const kept = ownText(name);
    // A name that is not well-formed would be remembered as another one.
    if (kept === name) this.#verdicts.set(kept, verdict);
    return verdict;
  }
}

// Alternatives of one-character classes: a single scan, with nothing to backtrack into. The `i` flag would fold more.
function pattern(needle: string): string {
  return Array.from({ length: needle.length }, (_, index) => unit(needle.charAt(index))).join("");
}

function unit(character: string): string {
  if (/[_.-]/.test(character)) return "[_.-]";
  if (/[a-zA-Z]/.test(character)) return `[${character.toLowerCase()}${character.toUpperCase()}]`;
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
