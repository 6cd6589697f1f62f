/**
 * The spans that wait to be sent, and how much of them there is: bounded in number and in text, so that whatever is recorded, a
 * collector that takes nothing costs so much memory and no more. Text is counted in UTF-16 code units.
 */
import type { AttributeValue } from "@opentelemetry/api";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";

/** Some 2 KiB each, beside their text. */
export const MAX_WAITING = 16_384;
export const MAX_WAITING_TEXT = 32 * 2 ** 20;
export const BATCH = 512;
/** A collector takes 4 MiB at once unless told otherwise; these are 3 MiB at most, and no span has more attributes than go into it. */
export const BATCH_TEXT = 2 ** 20;
/** What a value takes on the wire, and in memory, beside its text. */
const VALUE = 8;

export class WaitingSpans {
  #spans: ReadableSpan[] = [];
  #text = 0;

  get count(): number {
    return this.#spans.length;
  }

  /** Whether there is a batch. */
  get isFull(): boolean {
    return this.#spans.length >= BATCH || this.#text >= BATCH_TEXT;
  }

  /** `false` where there is no room for it. */
  add(span: ReadableSpan): boolean {
    const text = textOf(span);
    if (this.#spans.length >= MAX_WAITING || this.#text + text > MAX_WAITING_TEXT) return false;
    this.#spans.push(span);
    this.#text += text;
    return true;
  }

  /** The oldest, at least one where any waits. */
  take(): ReadableSpan[] {
    if (this.#spans.length <= BATCH && this.#text <= BATCH_TEXT) return this.#takeAll();
    let text = 0;
    let count = 0;
    for (const span of this.#spans) {
      const more = textOf(span);
      if (count === BATCH || (count > 0 && text + more > BATCH_TEXT)) break;
      text += more;
      count++;
    }
    this.#text -= text;
    return this.#spans.splice(0, count);
  }

  #takeAll(): ReadableSpan[] {
    const all = this.#spans;
    this.#spans = [];
    this.#text = 0;
    return all;
  }
}

function textOf({ name, status, attributes }: ReadableSpan): number {
  let length = name.length + (status.message?.length ?? 0);
  for (const key in attributes) length += key.length + lengthOf(attributes[key]);
  return length;
}

function lengthOf(value: AttributeValue | undefined): number {
  if (typeof value === "string") return VALUE + value.length;
  if (!Array.isArray(value)) return VALUE;
  return value.reduce<number>((length, element) => length + lengthOf(element ?? undefined), VALUE);
}
