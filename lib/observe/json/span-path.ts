/**
 * The names of the spans around an event, outermost first, as the lines show them. Remembered as a tree, because a program opens
 * spans of the same few names for every request.
 */
import { jsonText, oneText } from "./text.js";

/** Names remembered below one span; a program that makes up more pays for each anew. */
const KEPT = 256;

export class SpanPath {
  /** The member that the names make of a line, and the same after a string that still lacks its closing quotation mark. */
  readonly spans: string;
  readonly spansAfterString: string;
  readonly #below = new Map<string, SpanPath>();

  private constructor(private readonly names: string) {
    this.spans = names === "" ? "" : oneText(`,"spans":[${names}]`);
    this.spansAfterString = oneText(`"${this.spans}`);
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
    const path = new SpanPath(this.names === "" ? jsonText(name) : `${this.names},${jsonText(name)}`);
    if (this.#below.size < KEPT) this.#below.set(name, path);
    return path;
  }
}
