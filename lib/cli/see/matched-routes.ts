/** The routes whose template matches a path, each with the reason why it handles the request or does not, and the route that is nearest. */
import { Path } from "../../endpoints/path.js";
import { BoundRoute, Matcher } from "../../routing/matcher.js";
import type { RouteDescriptor } from "../../routing/route.js";

export interface Candidate {
  readonly method: string;
  readonly path: string;
  readonly why: string;
}

export interface ExplainedRequest {
  readonly method: string;
  readonly path: string;
}

/** The route that handles the request is the first. */
export function matchRoutes(
  routes: readonly RouteDescriptor[],
  request: ExplainedRequest,
  found: RouteDescriptor | undefined,
): readonly Candidate[] {
  const matching = routes.flatMap((route) => {
    const kind = matchOne(route, request);
    return kind === "not-found" || kind === "malformed" ? [] : [{ route, hasMethod: kind === "route" }];
  });
  return matching
    .toSorted((left, right) => Number(isSame(right.route, found)) - Number(isSame(left.route, found)))
    .map(({ route, hasMethod }) => ({
      method: route.method,
      path: route.path,
      why: explainMatch(route, hasMethod, found),
    }));
}

function matchOne({ method, path }: RouteDescriptor, request: ExplainedRequest): string {
  const template = Path.read(path);
  return template instanceof Path
    ? new Matcher([new BoundRoute(method, template, () => {})]).match(request.method, request.path).kind
    : "not-found";
}

function explainMatch(route: RouteDescriptor, hasMethod: boolean, found: RouteDescriptor | undefined): string {
  if (isSame(route, found)) return "handles the request: the most specific template with the method";
  if (!hasMethod) return `is for ${route.method}`;
  return found?.path === route.path ? "has a route for the method itself" : "is less specific";
}

/** Each call of `descriptors()` returns other objects. */
function isSame(route: RouteDescriptor, found: RouteDescriptor | undefined): boolean {
  return route.method === found?.method && route.path === found.path;
}

/** The route whose template is most alike: a capture is alike to any segment. `null` without routes. */
export function findNearest(routes: readonly RouteDescriptor[], path: string): string | null {
  const [nearest] = routes
    .map((route) => ({ route, distance: getDistance(fill(route.path, path), path) }))
    .toSorted((left, right) => left.distance - right.distance);
  return nearest === undefined ? null : `${nearest.route.method} ${nearest.route.path}`;
}

/** The template with the segments of the path as its captures. */
function fill(template: string, path: string): string {
  const segments = path.split("/");
  return template
    .split("/")
    .map((segment, at) => (segment.startsWith("{") ? (segments[at] ?? segment) : segment))
    .join("/");
}

/** The number of characters to insert, remove or replace (Levenshtein). */
export function getDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, at) => at);
  for (const [at, character] of Array.from(left).entries()) {
    const next = [at + 1];
    for (const [column, opposite] of Array.from(right).entries()) {
      const replaced = (row[column] ?? 0) + (character === opposite ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
