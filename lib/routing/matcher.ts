/**
 * Finds the `Match` for the method and the raw path of a request, without its query. It is built once from all routes. The cost does not
 * depend on the number of routes, and a match allocates only its parameters, when they are asked for.
 *
 * The most specific template that has the method is matched: literal before capture before catch-all, segment by segment from the left, in
 * any order of declaration. Letter case and slashes are significant. Literals are compared in canonical percent encoding. Captures are
 * decoded after the match and are never empty.
 *
 * @example
 * const matcher = new Matcher([new BoundRoute("GET", Path.of("/links/{id}"), show)]);
 * const match = matcher.match("GET", "/links/7");
 * if (match.kind === "route") match.params("/links/7"); // { id: "7" }
 */
import type { Run } from "../http/middleware.js";
import type { Method } from "../endpoints/method.js";
import type { Path, PathSegment } from "../endpoints/path.js";
import { toCanonicalPath, decodePart } from "../endpoints/percent-encoding.js";

/** The route that handles a request, or the reason why there is none. Every match exists before the request: none is allocated. */
export type Match =
  | BoundRoute
  /** The path cannot be decoded: 400. */
  | { readonly kind: "malformed" }
  /** No template matches the path: 404, or a file. */
  | { readonly kind: "not-found" }
  | MethodMismatch;

/** Templates match, and none of them has the method: 204 with `Allow` for OPTIONS, 405 with it for any other method. */
export interface MethodMismatch {
  readonly kind: "method-not-allowed" | "options";
  readonly allow: string;
  /** The media types of QUERY at the path. */
  readonly acceptQuery?: string;
}

type Params = Readonly<Record<string, string>>;

/** A route of one application: `run` calls its middleware and its handler, bound to their instances. */
export class BoundRoute {
  readonly kind = "route";
  private readonly captures: readonly Capture[];

  constructor(
    readonly method: Method,
    readonly path: Path,
    readonly run: Run,
    /** The media types of QUERY at the template. */
    readonly acceptQuery?: string,
    /** Metrics count its requests. */
    readonly isDeprecated = false,
  ) {
    this.captures = listCaptures(path.segments);
  }

  /**
   * Returns the decoded parameters of a request path that this route has matched. They inherit nothing, so a capture may have any name.
   * Returns `undefined` for a template without captures.
   */
  params(path: string): Params | undefined {
    if (this.captures.length === 0) return undefined;
    const params = new OwnParams();
    let start = 1;
    for (const { name, skip, isCatchAll } of this.captures) {
      for (let skipped = 0; skipped < skip; skipped++) start = path.indexOf("/", start) + 1;
      const end = isCatchAll ? -1 : path.indexOf("/", start);
      const raw = end === -1 ? path.slice(start) : path.slice(start, end);
      // The matcher has refused every path that cannot be decoded.
      params[name] = isPlain(raw) ? raw : (decodePart(raw) ?? raw);
      start = end + 1;
    }
    return params;
  }
}

export class Matcher {
  private readonly root = new SegmentNode();

  /** Of two routes with the same method and template the first one is matched; `build()` refuses such routes. */
  constructor(routes: Iterable<BoundRoute>) {
    for (const route of routes) this.root.ensureTemplate(route.path.segments).add(route);
  }

  match(method: string, path: string): Match {
    if (isPlain(path)) return this.search(method, path);
    const canonical = toCanonicalPath(path);
    return canonical === undefined ? MALFORMED : this.search(method, canonical);
  }

  private search(method: string, path: string): Match {
    if (!path.startsWith("/")) return NOT_FOUND;
    return this.root.find(method, path, 1) ?? this.createMismatch(method, path);
  }

  private createMismatch(method: string, path: string): Match {
    const allowed = new Set<string>();
    let acceptQuery: string | undefined;
    for (const template of this.root.listMatching(path, 1)) {
      for (const name of template.methods) allowed.add(name);
      acceptQuery ??= template.acceptQuery;
    }
    if (allowed.size === 0) return NOT_FOUND;
    if (allowed.has("GET")) allowed.add("HEAD");
    const allow = [...allowed.add("OPTIONS")].toSorted().join(", ");
    const kind = method === "OPTIONS" ? "options" : "method-not-allowed";
    return { kind, allow, ...(acceptQuery !== undefined && { acceptQuery }) };
  }
}

const MALFORMED: Match = Object.freeze({ kind: "malformed" });
const NOT_FOUND: Match = Object.freeze({ kind: "not-found" });

/** The characters of a path that are identical to their canonical spelling: `pchar` of RFC 3986 section 3.3 and the slash, but no `%`. */
const PLAIN_CHARACTERS = createCharacterTable(
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@/",
);

function createCharacterTable(characters: string): Uint8Array {
  const table = new Uint8Array(128);
  for (const character of characters) table[character.charCodeAt(0)] = 1;
  return table;
}

/** Whether the text is identical to its canonical spelling. Most paths are, and then nothing is decoded. */
function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > 0x7f || PLAIN_CHARACTERS[code] === 0) return false;
  }
  return true;
}

interface Capture {
  readonly name: string;
  /** The number of literals between the previous capture, or the start, and this one. */
  readonly skip: number;
  readonly isCatchAll: boolean;
}

function listCaptures(segments: readonly PathSegment[]): readonly Capture[] {
  const captures: Capture[] = [];
  let skip = 0;
  for (const { kind, text } of segments) {
    if (kind === "literal") skip++;
    else {
      captures.push({ name: text, skip, isCatchAll: kind === "catch-all" });
      skip = 0;
    }
  }
  return captures;
}

/** All instances have one hidden class until parameters are added. Objects from `Object.create(null)` are slow dictionaries. */
const OwnParams = createEmptyClass();

function createEmptyClass(): new () => Record<string, string> {
  const Empty = class {};
  Reflect.deleteProperty(Empty.prototype, "constructor");
  Object.setPrototypeOf(Empty.prototype, null);
  // An instance has exactly the properties that are assigned to it.
  return Empty as new () => Record<string, string>;
}

/** The routes of one template, one per method. */
class TemplateRoutes {
  private readonly byMethod = new Map<string, BoundRoute>();
  private any: BoundRoute | undefined;

  add(route: BoundRoute): void {
    if (route.method === "ANY") this.any ??= route;
    else if (!this.byMethod.has(route.method)) this.byMethod.set(route.method, route);
  }

  /** Returns the route for the method: GET handles HEAD, and `ANY` handles every method without a route. */
  findRoute(method: string): BoundRoute | undefined {
    const route = this.byMethod.get(method) ?? (method === "HEAD" ? this.byMethod.get("GET") : undefined);
    return route ?? this.any;
  }

  get methods(): Iterable<string> {
    return this.byMethod.keys();
  }

  get acceptQuery(): string | undefined {
    return this.byMethod.get("QUERY")?.acceptQuery;
  }
}

/**
 * A node of the tree of segments that contains the templates. A search hashes the characters of a segment in the path itself, so it
 * allocates nothing. It enters a node at most once, so the size of the tree bounds it. Paths are in canonical spelling.
 */
class SegmentNode {
  /** By hash; `nextWithSameHash` links literals of one hash. */
  private literals: Map<number, SegmentNode> | undefined;
  private nextWithSameHash: SegmentNode | undefined;
  private capture: SegmentNode | undefined;
  private catchAll: TemplateRoutes | undefined;
  private routes: TemplateRoutes | undefined;

  /** `text` is the literal that leads to this node. */
  constructor(private readonly text = "") {}

  /** Returns the routes of a template, and adds it where it is missing. `at` is the segment after this node. */
  ensureTemplate(segments: readonly PathSegment[], at = 0): TemplateRoutes {
    const segment = segments[at];
    if (segment === undefined) return (this.routes ??= new TemplateRoutes());
    if (segment.kind === "catch-all") return (this.catchAll ??= new TemplateRoutes());
    const child = segment.kind === "literal" ? this.ensureLiteral(segment.text) : (this.capture ??= new SegmentNode());
    return child.ensureTemplate(segments, at + 1);
  }

  /** Finds the most specific route that has the method. `start` is the index of the next segment in the path. */
  find(method: string, path: string, start: number): BoundRoute | undefined {
    let hash = 0;
    let end = start;
    for (; end < path.length; end++) {
      const code = path.charCodeAt(end);
      if (code === SLASH) break;
      hash = addToHash(hash, code);
    }
    // The order of the three attempts is the order of specificity.
    const literal = this.findLiteral(path, start, end, hash)?.descend(method, path, end);
    if (literal !== undefined) return literal;
    const captured = end === start ? undefined : this.capture?.descend(method, path, end);
    if (captured !== undefined) return captured;
    return start < path.length ? this.catchAll?.findRoute(method) : undefined;
  }

  /** Lists every template that matches the path, with any method. */
  *listMatching(path: string, start: number): Generator<TemplateRoutes> {
    const slash = path.indexOf("/", start);
    const end = slash === -1 ? path.length : slash;
    const literal = this.findLiteral(path, start, end, hashText(path.slice(start, end)));
    for (const child of [literal, end === start ? undefined : this.capture]) {
      if (child === undefined) continue;
      if (slash !== -1) yield* child.listMatching(path, end + 1);
      else if (child.routes !== undefined) yield child.routes;
    }
    if (this.catchAll !== undefined && start < path.length) yield this.catchAll;
  }

  private descend(method: string, path: string, end: number): BoundRoute | undefined {
    return end === path.length ? this.routes?.findRoute(method) : this.find(method, path, end + 1);
  }

  /** Finds the child node for the segment between `start` and `end`. */
  private findLiteral(path: string, start: number, end: number, hash: number): SegmentNode | undefined {
    let child = this.literals?.get(hash);
    while (child !== undefined && (child.text.length !== end - start || !path.startsWith(child.text, start))) {
      child = child.nextWithSameHash;
    }
    return child;
  }

  private ensureLiteral(text: string): SegmentNode {
    const hash = hashText(text);
    const known = this.findLiteral(text, 0, text.length, hash);
    if (known !== undefined) return known;
    this.literals ??= new Map();
    const node = new SegmentNode(text);
    node.nextWithSameHash = this.literals.get(hash);
    this.literals.set(hash, node);
    return node;
  }
}

const SLASH = 0x2f;

/** 30 bits: V8 keeps such a number without allocating it. */
function addToHash(hash: number, code: number): number {
  return (Math.imul(hash, 31) + code) & 0x3fffffff;
}

function hashText(text: string): number {
  let hash = 0;
  for (let at = 0; at < text.length; at++) hash = addToHash(hash, text.charCodeAt(at));
  return hash;
}
