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
import { Found, MALFORMED, NOT_FOUND, type Match, type NotFound } from "./found.js";
import type { Method } from "./method.js";
import type { Path } from "./path.js";
import { canonicalPath, isPlain } from "./percent-encoding.js";
import { SegmentTree } from "./segment-tree.js";

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
    if (isPlain(path)) return this.search(method, path);
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
