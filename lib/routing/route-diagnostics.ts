/** What is wrong with routes taken together: paths that are none, two routes for the same requests, two routes of one name. */
import type { Diagnostic } from "../errors/diagnostic.js";
import { titleOf, type RouteDescriptor } from "./handler.js";
import type { DraftRoute } from "./route.js";
import { Path } from "./path.js";
import { isMiddleware } from "./middleware.js";

/** Where the framework's own endpoints live. */
const RESERVED = "/_framework";

export function findingsOf(drafts: readonly DraftRoute[]): readonly Diagnostic[] {
  return [
    ...drafts.flatMap(pathFindings),
    ...drafts.flatMap(middlewareFindings),
    ...duplicates(drafts),
    ...repeatedNames(drafts),
  ];
}

/** Routes that stand exactly on one of the paths given, where something else answers. */
export function collisions(
  drafts: readonly Pick<DraftRoute, "path" | "descriptor">[],
  taken: readonly string[],
): Diagnostic[] {
  return drafts.flatMap(({ path, descriptor }) => {
    if (!(path instanceof Path) || !taken.includes(path.shape)) return [];
    const what = `the route ${titleOf(descriptor)} stands on the health path ${path.shape}, which answers before it`;
    const fix = "give the route another path, or move the health endpoints with .healthPrefix(path)";
    return [{ code: "E_ROUTE_HEALTH", what, where: descriptor.handler, fix }];
  });
}

function pathFindings({ descriptor, path }: DraftRoute): Diagnostic[] {
  const where = descriptor.handler;
  if (!(path instanceof Path)) {
    const what = `the path "${path.template}" cannot be used: ${path.reason}`;
    const fix = "write it as segments after slashes, each a text, {name}, or {*name} at the end";
    return [{ code: "E_ROUTE_PATH", what, where, fix }];
  }
  if (path.shape !== RESERVED && !path.shape.startsWith(`${RESERVED}/`)) return [];
  const what = `the route ${titleOf(descriptor)} lies below ${RESERVED}, which is reserved for the framework`;
  return [{ code: "E_ROUTE_RESERVED", what, where, fix: "give it another path" }];
}

/** The compiler refuses these; what still comes is `undefined` from modules that import each other, or plain JavaScript. */
function middlewareFindings({ descriptor, middleware }: DraftRoute): Diagnostic[] {
  return middleware
    .filter((input) => !isMiddleware(input))
    .map((input) => ({
      code: "E_MIDDLEWARE_INVALID",
      what: `${String(input)} stands as middleware on ${titleOf(descriptor)} and is none`,
      where: descriptor.handler,
      fix: "give a class or an object with handle(ctx, next), or a function; undefined often means that two modules import each other",
    }));
}

function duplicates(drafts: readonly DraftRoute[]): Diagnostic[] {
  return repeated(drafts, requestsOf, (first, second) => ({
    code: "E_ROUTE_DUPLICATE",
    what: `${titleOf(second)} answers the same requests as ${titleOf(first)}`,
    where: `${first.handler} and ${second.handler}`,
    fix: "remove one of the two, or give it another method or path; the names of parameters do not tell routes apart",
  }));
}

function repeatedNames(drafts: readonly DraftRoute[]): Diagnostic[] {
  const blank = drafts.filter(({ descriptor }) => descriptor.name === "");
  const twice = repeated(drafts, nameOf, (first, second) => ({
    code: "E_ROUTE_NAME_REPEATED",
    what: `the name "${String(second.name)}" is given to ${titleOf(first)} and to ${titleOf(second)}`,
    where: `${first.handler} and ${second.handler}`,
    fix: "give one of the two another name",
  }));
  return [...blank.map(({ descriptor }) => unnamed(descriptor)), ...twice];
}

function unnamed(descriptor: RouteDescriptor): Diagnostic {
  const what = `the name of ${titleOf(descriptor)} is empty`;
  return { code: "E_ROUTE_NAME_EMPTY", what, where: descriptor.handler, fix: "leave the name out, or give one" };
}

function repeated(
  drafts: readonly DraftRoute[],
  keyOf: (draft: DraftRoute) => string | undefined,
  describe: (first: RouteDescriptor, second: RouteDescriptor) => Diagnostic,
): Diagnostic[] {
  const firsts = new Map<string, RouteDescriptor>();
  return drafts.flatMap((draft) => {
    const key = keyOf(draft);
    const first = key === undefined ? undefined : firsts.get(key);
    if (first !== undefined) return [describe(first, draft.descriptor)];
    if (key !== undefined) firsts.set(key, draft.descriptor);
    return [];
  });
}

/** The same for two routes between which no request could choose. */
function requestsOf({ method, path }: DraftRoute): string | undefined {
  return path instanceof Path ? `${method} ${path.shape}` : undefined;
}

function nameOf({ descriptor }: DraftRoute): string | undefined {
  return descriptor.name === "" ? undefined : descriptor.name;
}
