/**
 * The members of one JSON object, as far as they are written. Knows what the next one has to close.
 */
import { AFTER_STRING, AFTER_VALUE, type Before, type Slot } from "./key-slot.js";

export class Members {
  #text = "";
  #last: Before;

  constructor(start: Before) {
    this.#last = start;
  }

  /** Adds the value if it is the one that the slot wrote last; `false` where it is not. */
  addAgain(slot: Slot, value: unknown): boolean {
    const piece = slot.remembered(value, this.#last);
    if (piece === undefined) return false;
    this.#text = this.#text + piece;
    this.#last = typeof value === "string" ? AFTER_STRING : AFTER_VALUE;
    return true;
  }

  /** @param value Must not need an escape. */
  addString(slot: Slot, value: string): void {
    // One piece after the other, never a sum of two: trees that lean to one side are cheaper to write out.
    this.#text = this.#text + slot.prefix(this.#last, true) + value;
    slot.remember(value, this.#last, value);
    this.#last = AFTER_STRING;
  }

  addJson(slot: Slot, value: unknown, json: string): void {
    this.#text = this.#text + slot.prefix(this.#last, false) + json;
    if (typeof value !== "object" && typeof value !== "string") slot.remember(value, this.#last, json);
    this.#last = AFTER_VALUE;
  }

  /** The object, complete; `""` where it has no members. */
  close(): string {
    if (this.#text === "") return "";
    return this.#text + (this.#last === AFTER_STRING ? '"}' : "}");
  }
}
