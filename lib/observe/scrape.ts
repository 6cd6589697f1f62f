/**
 * An exposition on its way out: written slice by slice, with a turn of the event loop in between, so that a scrape of however many
 * series holds up nobody for more than a millisecond or two. Each series is whole, and as it stands when its slice is written.
 *
 * Not for an exposition of one slice: that is text, and has a length.
 */
import { Readable } from "node:stream";

/** In characters: some 800 lines, which take less than a millisecond. */
const SLICE = 1 << 16;

export class Scrape extends Readable {
  private next: string | undefined;

  private constructor(
    first: string,
    private readonly texts: Iterator<string>,
  ) {
    super();
    this.next = first;
  }

  /** The texts one after the other: as one where they fit into a slice. */
  static of(texts: Iterator<string>): string | Scrape {
    const first = sliceOf(texts);
    return first.length < SLICE ? first : new Scrape(first, texts);
  }

  override _read(): void {
    const { next } = this;
    this.next = undefined;
    if (next === undefined) setImmediate(() => this.goOn());
    else this.push(next);
  }

  private goOn(): void {
    if (!this.destroyed) this.push(sliceOf(this.texts) || null);
  }
}

/** Shorter than a slice only at the end, and longer by one text at most. */
function sliceOf(texts: Iterator<string>): string {
  const pieces: string[] = [];
  let length = 0;
  while (length < SLICE) {
    const { done, value } = texts.next();
    if (done === true) break;
    pieces.push(value);
    length += value.length;
  }
  return pieces.join("");
}
