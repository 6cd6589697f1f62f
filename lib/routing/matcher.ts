/**
 * The matcher: built once from all routes, asked once a request, with the raw path (no query). What it costs does not depend on the
 * number of routes, and a match allocates nothing but its parameters, when they are asked for.
 *
 * The most specific template that has the method answers: literal before capture before catch-all, segment by segment from the
 * left, whatever the order of declaration. Letter case and slashes are significant; literals are compared in canonical percent
 * encoding; captures are decoded after the match and are never empty.
 *
 * @example
 * const index = new RouteIndex([{ method: "GET", path: Path.of("/links/{id}"), value: show }]);
 * const match = index.match("GET", "/links/7");
 * if (match.kind === "found") match.value(match.params("/links/7")); // { id: "7" }
 */
import type { PathSegment, Path } from "./path.js";
import { decoded, canonicalPath } from "./percent-encoding.js";
import type { Method } from "./handler.js";

/**
 * What the index says about a request: the route that answers, or why none does. Everything but the parameters is made once, with
 * the index; a match allocates nothing.
 */
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

/** A path that is its own canonical spelling: slashes and `pchar` without `%` (RFC 3986 section 3.3). */
const PLAIN_PATH = /^[\w\-.~!$&'()*+,;=:@/]*$/;

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

// The templates of an application as a tree of segments. Literals are found by a hash of their characters, taken where they stand in
// the path: a search allocates nothing, and what it costs depends on the path, not on how many routes there are beside it. It enters
// a node at most once, so it is bounded by the tree. Paths are given in canonical spelling.

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

/** A route as the index needs it; `value` is handed back with the match. */
export interface IndexedRoute<T> {
  readonly method: Method;
  readonly path: Path;
  readonly value: T;
}

export class RouteIndex<T> {
  private readonly tree = new SegmentTree<T>();

  constructor(routes: Iterable<IndexedRoute<T>>) {
    for (const { method, path, value } of routes) {
      this.tree.place(path.segments).add(method, new Found(value, path.segments));
    }
  }

  /** What answers `method` on `path`, which is the request's path as it came, without its query. */
  match(method: string, path: string): Match<T> {
    if (PLAIN_PATH.test(path)) return this.search(method, path);
    const canonical = canonicalPath(path);
    return canonical === undefined ? MALFORMED : this.search(method, canonical);
  }

  private search(method: string, path: string): Match<T> {
    if (!path.startsWith("/")) return NOT_FOUND;
    return this.tree.find(method, path, 1) ?? this.refuse(method, path);
  }

  private refuse(method: string, path: string): NotFound {
    const allowed = new Set<string>();
    for (const terminal of this.tree.matching(path, 1)) {
      for (const name of terminal.methods) allowed.add(name);
    }
    if (allowed.size === 0) return NOT_FOUND;
    if (allowed.has("GET")) allowed.add("HEAD");
    const allow = [...allowed.add("OPTIONS")].toSorted().join(", ");
    return method === "OPTIONS" ? { kind: "options", allow } : { kind: "method-not-allowed", allow };
  }
}
