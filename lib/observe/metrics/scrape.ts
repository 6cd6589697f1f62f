/**
 * An exposition as a stream: it is written in slices, and other requests run between two slices, so a scrape of many series blocks them for
 * at most a millisecond or two. Each series is written whole, with its values at the time of its slice.
 *
 * Not for an exposition of one slice: that is sent as text with a length.
 */
import { Readable } from "node:stream";

/** In characters: about 800 lines, which take less than a millisecond. */
const SLICE_LENGTH = 1 << 16;

export class Scrape extends Readable {
  private next: string | undefined;

  private constructor(
    first: string,
    private readonly texts: Iterator<string>,
  ) {
    super();
    this.next = first;
  }

  /** All texts in order: one string if they fit into a slice, else a stream. */
  static of(texts: Iterator<string>): string | Scrape {
    const first = readSlice(texts);
    return first.length < SLICE_LENGTH ? first : new Scrape(first, texts);
  }

  override _read(): void {
    const { next } = this;
    this.next = undefined;
    if (next === undefined) setImmediate(() => this.pushSlice());
    else this.push(next);
  }

  private pushSlice(): void {
    if (!this.destroyed) this.push(readSlice(this.texts) || null);
  }
}

/** Shorter than a slice only at the end, and longer by at most one text. */
export function readSlice(texts: Iterator<string>): string {
  const pieces: string[] = [];
  let length = 0;
  while (length < SLICE_LENGTH) {
    const { done, value } = texts.next();
    if (done === true) break;
    pieces.push(value);
    length += value.length;
  }
  return pieces.join("");
}
