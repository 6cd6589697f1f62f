/**
 * The templates of an application as a tree of segments. Literals are found by a hash of their characters, taken where they stand in
 * the path: a search allocates nothing, and what it costs depends on the path, not on how many routes there are beside it. It enters
 * a node at most once, so it is bounded by the tree. Paths are given in canonical spelling.
 */
import { Found } from "./found.js";
import type { Method } from "./method.js";
import type { PathSegment } from "./path-segment.js";

/** The routes of one template, one per method. */
export class Terminal<T> {
  private readonly byMethod = new Map<string, Found<T>>();
  private any: Found<T> | undefined;

  /** The first route of a method stands; a second one is a fault that is reported elsewhere. */
  add(method: Method, found: Found<T>): void {
    if (method === "ANY") this.any ??= found;
    else if (!this.byMethod.has(method)) this.byMethod.set(method, found);
  }

  /** The route for the method: HEAD falls back to GET, and everything to `ANY`. */
  answer(method: string): Found<T> | undefined {
    const found = this.byMethod.get(method) ?? (method === "HEAD" ? this.byMethod.get("GET") : undefined);
    return found ?? this.any;
  }

  get methods(): Iterable<string> {
    return this.byMethod.keys();
  }
}

export class SegmentTree<T> {
  /** By hash; literals of the same hash are chained. */
  private literals: Map<number, SegmentTree<T>> | undefined;
  private chained: SegmentTree<T> | undefined;
  private capture: SegmentTree<T> | undefined;
  private catchAll: Terminal<T> | undefined;
  private terminal: Terminal<T> | undefined;

  /** `text` is the literal that leads here. */
  constructor(private readonly text = "") {}

  /** The place of a template, made where it is new; `at` is the segment that this node stands before. */
  place(segments: readonly PathSegment[], at = 0): Terminal<T> {
    const segment = segments[at];
    if (segment === undefined) return (this.terminal ??= new Terminal());
    if (segment.kind === "catch-all") return (this.catchAll ??= new Terminal());
    const child = segment.kind === "literal" ? this.literal(segment.text) : (this.capture ??= new SegmentTree());
    return child.place(segments, at + 1);
  }

  /**
   * The most specific route that has the method. `start` is where the segment of this node begins.
   * The order of the three attempts is the order of specificity.
   */
  find(method: string, path: string, start: number): Found<T> | undefined {
    let hash = 0;
    let end = start;
    for (; end < path.length; end++) {
      const code = path.charCodeAt(end);
      if (code === SLASH) break;
      hash = hashed(hash, code);
    }
    const literal = this.literalAt(path, start, end, hash)?.descend(method, path, end);
    if (literal !== undefined) return literal;
    const captured = end === start ? undefined : this.capture?.descend(method, path, end);
    if (captured !== undefined) return captured;
    return start < path.length ? this.catchAll?.answer(method) : undefined;
  }

  /** Every template that matches the path, whatever its methods. */
  *matching(path: string, start: number): Generator<Terminal<T>> {
    const slash = path.indexOf("/", start);
    const end = slash === -1 ? path.length : slash;
    const literal = this.literalAt(path, start, end, hashOf(path.slice(start, end)));
    for (const child of [literal, end === start ? undefined : this.capture]) {
      if (child === undefined) continue;
      if (slash !== -1) yield* child.matching(path, end + 1);
      else if (child.terminal !== undefined) yield child.terminal;
    }
    if (this.catchAll !== undefined && start < path.length) yield this.catchAll;
  }

  private descend(method: string, path: string, end: number): Found<T> | undefined {
    return end === path.length ? this.terminal?.answer(method) : this.find(method, path, end + 1);
  }

  /** The child for the segment between `start` and `end`. */
  private literalAt(path: string, start: number, end: number, hash: number): SegmentTree<T> | undefined {
    let child = this.literals?.get(hash);
    while (child !== undefined && (child.text.length !== end - start || !path.startsWith(child.text, start))) {
      child = child.chained;
    }
    return child;
  }

  private literal(text: string): SegmentTree<T> {
    const hash = hashOf(text);
    const known = this.literalAt(text, 0, text.length, hash);
    if (known !== undefined) return known;
    this.literals ??= new Map();
    const made = new SegmentTree<T>(text);
    made.chained = this.literals.get(hash);
    this.literals.set(hash, made);
    return made;
  }
}

const SLASH = 0x2f;

/** Kept to 30 bits, which V8 holds without a heap number everywhere. */
function hashed(hash: number, code: number): number {
  return (Math.imul(hash, 31) + code) & 0x3fffffff;
}

function hashOf(text: string): number {
  let hash = 0;
  for (let at = 0; at < text.length; at++) hash = hashed(hash, text.charCodeAt(at));
  return hash;
}
