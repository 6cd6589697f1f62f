/** A group of routes: below one prefix, or those of a table of endpoints. */
import { describeToken } from "../di/token.js";
import { refuseForeignCopy } from "../errors/copy.js";
import { markKind } from "../errors/copy-mark.js";
import { StartupError, type Warning } from "../errors/diagnostic.js";
import type { KoaMiddleware } from "../http/middleware.js";
import { createRoutesError, isEndpoint, type AnyEndpoint, type Endpoint } from "../endpoints/endpoint.js";
import { findTable, type Table } from "../endpoints/endpoint-table.js";
import type { EndpointHandler, FitsResult, HandledTypes, HandlerOf } from "../endpoints/handler.js";
import type { MiddlewareInput } from "./middleware.js";
import { joinPaths } from "../endpoints/filled-path.js";
import { requirePathText } from "../endpoints/path.js";
import { Route } from "./route.js";

/** A handler or a route for each entry of a table. A handler that asks for a capture which its path lacks does not compile. */
export type HandlersOf<T> = { readonly [K in keyof T & string]: EndpointHandler<T[K]> | Route };

type ContextIn<T, K> = K extends keyof T ? (T[K] extends HandledTypes ? T[K]["~context"] : never) : never;

type FitsEntry<R, T, K> = K extends keyof T
  ? T[K] extends HandledTypes
    ? FitsResult<R, T[K]>
    : never
  : { readonly "the table has no endpoint of this name": true };

/**
 * Routes below one prefix that share middleware. Groups nest: their prefixes are joined, the outer group's middleware is outermost.
 * The middleware of a group is around each of its routes and around no sibling of the group.
 *
 * @example
 * new RouteGroup("/admin", [Route.get("/", dashboard), Route.get("/users", users)]).middleware(SignedIn);
 */
export class RouteGroup {
  private readonly around: MiddlewareInput[] = [];
  private readonly prefix: string;
  private readonly members: readonly (Route | RouteGroup)[];
  private tableWarnings: readonly Warning[] = [];

  static {
    markKind(this.prototype, "group of routes");
  }

  /** Throws `E_ROUTE_PATH` for a prefix that is not a string, `E_ROUTES_INVALID` for a member that is neither route nor group. */
  constructor(prefix: string, members: readonly (Route | RouteGroup)[]) {
    this.prefix = requirePathText(prefix, "a group");
    this.members = checkMembers(members);
  }

  /**
   * The routes of a table or of a resource, one handler for each entry. A route with separate middleware takes the place of a handler:
   * `create: Route.of(links.create, create).middleware(SignedIn)`.
   *
   * @throws FrameworkError `E_ROUTES_INVALID` for a value that is not a table, for a handler without an entry, and for the route of another
   * entry; `E_HANDLER_INVALID` for an entry without a handler
   * @throws StartupError for a resource with an action that does not exist
   */
  // The results of the handlers are inferred, and each is checked where it stands: so the compiler ends its message with a text. Written
  // out, because the compiler would print the schemas of the table as arguments of a further name.
  static of<T extends object, R>(
    table: T,
    handlers: {
      readonly [K in keyof R]: Route | ((ctx: ContextIn<T, K>) => R[K] & FitsEntry<R[K], T, K>);
    } & { readonly [K in keyof T & string]: unknown },
  ): RouteGroup {
    refuseForeignCopy(table);
    const endpointTable = findTable(table);
    if (endpointTable === undefined)
      throw createRoutesError(`${describeToken(table)} is not a table: give the value of routes() or resource()`);
    if (endpointTable.diagnostics.length > 0) throw new StartupError(endpointTable.diagnostics);
    return new RouteGroup("", createRoutes(endpointTable, new Map(Object.entries(handlers)))).setWarnings(
      endpointTable.warnings,
    );
  }

  /** @internal */
  setWarnings(warnings: readonly Warning[]): this {
    this.tableWarnings = warnings;
    return this;
  }

  /** Returns the warnings of the tables in the group. @internal */
  warnings(): readonly Warning[] {
    const groups = this.members.filter((member) => member instanceof RouteGroup);
    return [...this.tableWarnings, ...groups.flatMap((group) => group.warnings())];
  }

  /** Puts middleware around each route of the group; the first is the outermost. It runs after the match, never on 404 or 405. */
  middleware(...middleware: readonly MiddlewareInput[]): this {
    this.around.push(...middleware);
    return this;
  }

  /** The same for middleware written for Koa. */
  layer(...layers: readonly KoaMiddleware[]): this {
    return this.middleware(...layers);
  }

  /** Returns the routes below a prefix, with more middleware around them. @internal */
  flatten(prefix = "", outer: readonly MiddlewareInput[] = []): readonly Route[] {
    const start = prefix === "" ? this.prefix : joinPaths(prefix, this.prefix);
    const around = [...outer, ...this.around];
    return this.members.flatMap((member) => member.flatten(start, around));
  }
}

/**
 * Copies the members of a collection or a group. Throws `E_ROUTES_INVALID` for a value that is not a list, and for a member that is neither
 * route nor group. Plain JavaScript can give both, and the stack of this error names the line.
 */
export function checkMembers(given: readonly (Route | RouteGroup)[]): (Route | RouteGroup)[] {
  if (!Array.isArray(given)) throw createRoutesError(`${describeToken(given)} is not a list of routes`);
  for (const member of given) refuseForeignCopy(member);
  const at = given.findIndex((member) => !(member instanceof Route || member instanceof RouteGroup));
  if (at >= 0) throw createRoutesError(`member ${at + 1}, ${describeNonMember(given[at])}`);
  return [...given];
}

function describeNonMember(given: unknown): string {
  if (isEndpoint(given)) return "an endpoint without a handler: write Route.of(endpoint, handler)";
  const isTable = typeof given === "object" && given !== null && findTable(given) !== undefined;
  if (isTable) return "a table without handlers: write RouteGroup.of(table, { index: handler, … })";
  return `${describeToken(given)}, is neither a Route nor a RouteGroup`;
}

function createRoutes(
  { name, entries }: Table,
  handlers: ReadonlyMap<string, HandlerOf<string> | Route>,
): readonly Route[] {
  const surplus = [...handlers.keys()].find((key) => !entries.has(key));
  if (surplus !== undefined) throw createRoutesError(`"${surplus}" is not an entry of the table "${name}"`);
  return [...entries].map(([key, entry]) => createRoute(entry, handlers.get(key), `"${key}" of the table "${name}"`));
}

function createRoute(entry: AnyEndpoint, given: HandlerOf<string> | Route | undefined, title: string): Route {
  // Without types a handler may be missing; Route.of reports it.
  if (!(given instanceof Route)) return Route.of(entry as Endpoint, given as HandlerOf<string>);
  if (given.endpoint === entry) return given;
  throw createRoutesError(`${title} is given the route of another endpoint: write Route.of(table.entry, handler)`);
}
