/**
 * The templates of an application as a tree of segments, each node with its literals in a map: what a request costs depends on its
 * path, not on how many routes there are beside it. A search enters a node at most once, so it is bounded by the tree.
 * Paths are given in canonical spelling.
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
  private readonly literals = new Map<string, SegmentTree<T>>();
  private capture: SegmentTree<T> | undefined;
  private catchAll: Terminal<T> | undefined;
  private terminal: Terminal<T> | undefined;

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
    const end = path.indexOf("/", start);
    const segment = end === -1 ? path.slice(start) : path.slice(start, end);
    const child = this.literals.get(segment);
    const literal = child === undefined ? undefined : child.descend(method, path, end);
    if (literal !== undefined) return literal;
    if (this.capture !== undefined && segment !== "") {
      const captured = this.capture.descend(method, path, end);
      if (captured !== undefined) return captured;
    }
    return start < path.length ? this.catchAll?.answer(method) : undefined;
  }

  /** Every template that matches the path, whatever its methods. */
  *matching(path: string, start: number): Generator<Terminal<T>> {
    const end = path.indexOf("/", start);
    const segment = end === -1 ? path.slice(start) : path.slice(start, end);
    for (const child of [this.literals.get(segment), segment === "" ? undefined : this.capture]) {
      if (child === undefined) continue;
      if (end !== -1) yield* child.matching(path, end + 1);
      else if (child.terminal !== undefined) yield child.terminal;
    }
    if (this.catchAll !== undefined && start < path.length) yield this.catchAll;
  }

  private descend(method: string, path: string, end: number): Found<T> | undefined {
    return end === -1 ? this.terminal?.answer(method) : this.find(method, path, end + 1);
  }

  private literal(text: string): SegmentTree<T> {
    const known = this.literals.get(text);
    if (known !== undefined) return known;
    const made = new SegmentTree<T>();
    this.literals.set(text, made);
    return made;
  }
}
