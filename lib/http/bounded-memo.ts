/**
 * Remembers what was worked out for a text, for texts that come from outside and are nearly always one of a few: a client that
 * invents new ones every time costs the work, never the memory.
 */

/** A text longer than this is worked out each time. */
const MAX_LENGTH = 256;

export class BoundedMemo<V extends {}> {
  private readonly known = new Map<string, V>();
  /** What was asked last is mostly what is asked next, and comparing costs a fifth of looking up. */
  private last: string | undefined = undefined;
  private lastValue: V | undefined = undefined;

  /** @param capacity how many are kept; the one too many starts over with an empty memory */
  constructor(
    private readonly workOut: (text: string) => V,
    private readonly capacity = 128,
  ) {}

  of(text: string): V {
    if (text === this.last && this.lastValue !== undefined) return this.lastValue;
    const value = this.known.get(text);
    if (value === undefined) return this.learn(text);
    this.last = text;
    this.lastValue = value;
    return value;
  }

  private learn(text: string): V {
    const value = this.workOut(text);
    if (text.length > MAX_LENGTH) return value;
    if (this.known.size >= this.capacity) this.known.clear();
    this.known.set(text, value);
    return value;
  }
}
