/**
 * What the index says about a request: the route that answers, or why none does. Everything but the parameters is made once, with
 * the index; a match allocates nothing.
 */
import type { PathSegment } from "./path-segment.js";
import { decoded } from "./percent-encoding.js";

export type Params = Readonly<Record<string, string>>;

/** A route answers. `value` is what was put into the index for it. */
export class Found<T> {
  readonly kind = "found";
  private readonly captures: readonly Capture[];

  constructor(
    readonly value: T,
    segments: readonly PathSegment[],
  ) {
    this.captures = capturesOf(segments);
  }

  /**
   * The decoded parameters of a path that this route has matched: an object of its own, without a prototype to inherit from, so that
   * a capture may have any name.
   */
  params(path: string): Params {
    if (this.captures.length === 0) return NO_PARAMS;
    const params = new OwnParams();
    let start = 1;
    for (const { name, skip, catchAll } of this.captures) {
      for (let skipped = 0; skipped < skip; skipped++) start = path.indexOf("/", start) + 1;
      const end = catchAll ? -1 : path.indexOf("/", start);
      const raw = end === -1 ? path.slice(start) : path.slice(start, end);
      // The index refuses what cannot be decoded before it matches.
      params[name] = decoded(raw) ?? raw;
      start = end + 1;
    }
    return params;
  }
}

/** No route answers. */
export type NotFound =
  /** The path cannot be decoded: 400. */
  | { readonly kind: "malformed" }
  /** No template matches the path: 404, or a file. */
  | { readonly kind: "not-found" }
  /** Templates match, none has the method: 405 with `Allow`. */
  | { readonly kind: "method-not-allowed"; readonly allow: string }
  /** The same for OPTIONS, which is answered: 204 with `Allow`. */
  | { readonly kind: "options"; readonly allow: string };

export type Match<T> = Found<T> | NotFound;

export const MALFORMED: NotFound = Object.freeze({ kind: "malformed" });
export const NOT_FOUND: NotFound = Object.freeze({ kind: "not-found" });

interface Capture {
  readonly name: string;
  /** Segments between the capture before (or the start) and this one. */
  readonly skip: number;
  readonly catchAll: boolean;
}

function capturesOf(segments: readonly PathSegment[]): Capture[] {
  const captures: Capture[] = [];
  let skip = 0;
  for (const { kind, text } of segments) {
    if (kind === "literal") skip++;
    else {
      captures.push({ name: text, skip, catchAll: kind === "catch-all" });
      skip = 0;
    }
  }
  return captures;
}

/**
 * An object with nothing to inherit: only the parameters of the route can be read from it. All objects of a route share one hidden
 * class, which those made by `Object.create(null)` would not.
 */
const OwnParams = emptyClass();

const NO_PARAMS: Params = Object.freeze(new OwnParams());

function emptyClass(): new () => Record<string, string> {
  const Empty = class {};
  Reflect.deleteProperty(Empty.prototype, "constructor");
  Object.setPrototypeOf(Empty.prototype, null);
  // What is assigned to an instance is all it has.
  return Empty as new () => Record<string, string>;
}
