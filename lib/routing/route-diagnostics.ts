/** The diagnostics of the routes of a collection: an invalid path, two routes for the same requests or of one name. */
import { describeBareUse } from "../errors/bare-decorator.js";
import { valueText } from "../errors/value-text.js";
import type { Diagnostic, Warning } from "../errors/diagnostic.js";
import { formatRoute, type AnyEndpoint } from "../endpoints/endpoint.js";
import { isMiddleware, MIDDLEWARE_FIX } from "./middleware.js";
import { Path } from "../endpoints/path.js";
import type { Route, RouteDescriptor } from "./route.js";

/** The paths below this one are reserved for endpoints of the framework. */
const RESERVED = "/_framework";

export function diagnoseRoutes(routes: readonly Route[]): readonly Diagnostic[] {
  return [
    ...routes.flatMap(diagnosePath),
    ...routes.flatMap(diagnoseMiddleware),
    ...findDuplicates(routes),
    ...findEmptyNames(routes),
    ...findRepeatedNames(routes),
    ...findEndpointsBelowCaptures(routes),
    ...findEndpointsOfSeveralPaths(routes),
  ];
}

/** Finds routes with exactly one of the paths of the health endpoints, which respond before any route. */
export function findHealthCollisions(routes: readonly Route[], healthPaths: readonly string[]): Diagnostic[] {
  return routes.flatMap(({ pathOrFault: path, descriptor }) => {
    if (!(path instanceof Path) || !healthPaths.includes(path.shape)) return [];
    const what = `the route ${formatRoute(descriptor)} has the health path ${path.shape}, which responds before it`;
    const fix = "give the route another path, or move the health endpoints with .healthPrefix(path)";
    return [{ code: "E_ROUTE_HEALTH", what, where: descriptor.handler, fix }];
  });
}

/** Finds routes with the path of the graph, where the application has moved it out of the reserved paths. */
export function findGraphCollisions(routes: readonly Route[], graphPath: string | undefined): Diagnostic[] {
  return routes.flatMap(({ pathOrFault: path, descriptor }) => {
    if (!(path instanceof Path) || path.shape !== graphPath || isReserved(path)) return [];
    const what = `the route ${formatRoute(descriptor)} has the path of .uagEndpoint(…), which responds before it`;
    return [{ code: "E_ROUTE_RESERVED", what, where: descriptor.handler, fix: "give one of the two another path" }];
  });
}

/**
 * Finds paths with a pattern of other routers. The pattern is literal text here, so the route does not match the paths that it seems to
 * match.
 */
export function findForeignPatterns(routes: readonly Route[]): readonly Warning[] {
  const suspected = routes.filter(({ descriptor }) => FOREIGN_PATTERN.test(descriptor.path.replaceAll("{*", "{")));
  if (suspected.length === 0) return [];
  const message = "a path has :name or *, which is literal text: write {name} for a segment and {*name} for the rest";
  return [{ message, fields: { routes: suspected.map(({ descriptor }) => formatRoute(descriptor)) } }];
}

const FOREIGN_PATTERN = /\/:[A-Za-z_]|\*/;

function diagnosePath({ descriptor, pathOrFault: path }: Route): Diagnostic[] {
  const where = descriptor.handler;
  if (!(path instanceof Path)) {
    const what = `the path "${path.template}" cannot be used: ${path.reason}`;
    const fix = "write it as segments after slashes, each a text, {name}, or {*name} at the end";
    return [{ code: "E_ROUTE_PATH", what, where: `${formatRoute(descriptor)}, ${where}`, fix }];
  }
  if (!isReserved(path)) return [];
  const what = `the route ${formatRoute(descriptor)} lies below ${RESERVED}, which is reserved for the framework`;
  return [{ code: "E_ROUTE_RESERVED", what, where, fix: "give it another path" }];
}

function isReserved({ shape }: Path): boolean {
  return shape === RESERVED || shape.startsWith(`${RESERVED}/`);
}

/** The compiler refuses these values. Files that import each other give `undefined`, and plain JavaScript gives anything. */
function diagnoseMiddleware({ descriptor, around }: Route): Diagnostic[] {
  return around
    .filter((input) => !isMiddleware(input))
    .map((input) => ({
      code: "E_MIDDLEWARE_INVALID",
      what:
        describeBareUse(input) ??
        `${valueText(input)} is given as middleware of ${formatRoute(descriptor)}, and is not middleware`,
      where: descriptor.handler,
      fix: MIDDLEWARE_FIX,
    }));
}

function findDuplicates(routes: readonly Route[]): Diagnostic[] {
  return findRepeated(routes, getRequestKey, (first, second) => ({
    code: "E_ROUTE_DUPLICATE",
    what: `${formatRoute(second)} handles the same requests as ${formatRoute(first)}`,
    where: `${first.handler} and ${second.handler}`,
    fix: "remove one of the two, or give it another method or path; the names of parameters do not tell routes apart",
  }));
}

function findEmptyNames(routes: readonly Route[]): Diagnostic[] {
  const unnamed = routes.map(({ descriptor }) => descriptor).filter(({ name }) => name === "");
  return unnamed.map((descriptor) => {
    const what = `the name of ${formatRoute(descriptor)} is empty`;
    return { code: "E_ROUTE_NAME_EMPTY", what, where: descriptor.handler, fix: "leave the name out, or give one" };
  });
}

function findRepeatedNames(routes: readonly Route[]): Diagnostic[] {
  return findRepeated(routes, findName, (first, second) => ({
    code: "E_ROUTE_NAME_REPEATED",
    what: `the name "${String(second.name)}" is given to ${formatRoute(first)} and to ${formatRoute(second)}`,
    where: `${first.handler} and ${second.handler}`,
    fix:
      first.path === second.path
        ? "remove one of the two; a module that two import specifiers name is loaded twice, with its table: name it by one"
        : "give one of the two another name",
  }));
}

/** The URL function of an endpoint only asks for the captures of the path of the endpoint. */
function findEndpointsBelowCaptures(routes: readonly Route[]): Diagnostic[] {
  return routes.flatMap(({ endpoint, descriptor: { path, handler } }) => {
    if (endpoint === undefined || path.split("{").length === endpoint.path.split("{").length) return [];
    const what = `the group of ${formatRoute(endpoint)} has a capture in its prefix, ${path}, which the endpoint's URL would not ask for`;
    const fix = "write the capture into the endpoint, or into the prefix of its table: routes(name, prefix, …)";
    return [{ code: "E_ENDPOINT_PREFIX", what, where: handler, fix }];
  });
}

function findEndpointsOfSeveralPaths(routes: readonly Route[]): Diagnostic[] {
  const firsts = new Map<AnyEndpoint, RouteDescriptor>();
  return routes.flatMap(({ endpoint, descriptor }) => {
    if (endpoint === undefined) return [];
    const first = firsts.get(endpoint) ?? descriptor;
    firsts.set(endpoint, first);
    if (first.path === descriptor.path) return [];
    const what = `${formatRoute(endpoint)} is handled at ${first.path} and at ${descriptor.path}, so its URL could be either`;
    const where = `${first.handler} and ${descriptor.handler}`;
    return [{ code: "E_ENDPOINT_SHARED", what, where, fix: "give each route a separate endpoint" }];
  });
}

/** Returns a diagnostic for each route whose key an earlier route has. */
function findRepeated(
  routes: readonly Route[],
  getKey: (route: Route) => string | undefined,
  describe: (first: RouteDescriptor, second: RouteDescriptor) => Diagnostic,
): Diagnostic[] {
  const firsts = new Map<string, Route>();
  return routes.flatMap((route) => {
    const key = getKey(route);
    const first = key === undefined ? undefined : firsts.get(key);
    if (first !== undefined) return [describe(first.descriptor, route.descriptor)];
    if (key !== undefined) firsts.set(key, route);
    return [];
  });
}

/** Equal for two routes that would handle the same requests. */
function getRequestKey({ method, pathOrFault: path }: Route): string | undefined {
  return path instanceof Path ? `${method} ${path.shape}` : undefined;
}

function findName({ descriptor }: Route): string | undefined {
  return descriptor.name === "" ? undefined : descriptor.name;
}
