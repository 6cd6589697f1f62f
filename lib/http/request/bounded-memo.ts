/**
 * Stores values that are computed from texts of clients. Nearly all clients send one of a few texts, so most values are found. A client
 * that sends a new text each time costs computation, but no memory.
 */

/** The value of a longer text is computed each time. */
const MAX_LENGTH = 256;

export class BoundedMemo<V extends {}> {
  private readonly known = new Map<string, V>();
  /** The next text is mostly equal to the last one, and a comparison costs a fifth of a search in the map. */
  private last: string | undefined = undefined;
  private lastValue: V | undefined = undefined;

  /** @param capacity the maximum of stored values; when it is reached, all are removed before the next one is added */
  constructor(
    private readonly compute: (text: string) => V,
    private readonly capacity = 128,
  ) {}

  get(text: string): V {
    if (text === this.last && this.lastValue !== undefined) return this.lastValue;
    const value = this.known.get(text);
    if (value === undefined) return this.add(text);
    this.last = text;
    this.lastValue = value;
    return value;
  }

  private add(text: string): V {
    const value = this.compute(text);
    if (text.length > MAX_LENGTH) return value;
    if (this.known.size >= this.capacity) this.known.clear();
    this.known.set(text, value);
    return value;
  }
}
