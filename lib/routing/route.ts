/**
 * A route without decorators: a method, a path and a handler, with a name and middleware of its own. Put it into `Routes`, or first
 * into a `RouteGroup` that gives it a prefix. It is read when the application is built; until then every call on it counts.
 *
 * A handler may ask for the captures of the route's own path; what a group's prefix captures, it reads from a `Context<string>`.
 *
 * @example
 * Route.get("/links/{id}", ({ params }) => store.find(params.id)).name("links.show").middleware(SignedIn);
 */
import { FrameworkError } from "../errors/framework-error.js";
import type { KoaMiddleware } from "../http/middleware.js";
import type { Handler, HandlerOf, Method, RouteDescriptor } from "./handler.js";
import { joinPaths, Path, pathText, type PathFault } from "./path.js";
import type { MiddlewareInput } from "./middleware.js";
import { nameOf } from "../di/token.js";

/** What a route is besides its method, path and handler. */
export interface RouteOptions {
  readonly name?: string | undefined;
  readonly pages?: readonly string[] | undefined;
  /** How the handler is called in descriptions; else the function's own name. */
  readonly handlerName?: string | undefined;
}

export class Route {
  private readonly around: MiddlewareInput[] = [];
  private dottedName: string | undefined;

  private constructor(
    private readonly method: Method,
    private readonly path: string,
    private readonly handler: Handler,
    private readonly options: RouteOptions,
  ) {
    this.dottedName = options.name;
  }

  static get<const P extends string>(path: P, handler: HandlerOf<P>): Route {
    return Route.of("GET", path, handler);
  }

  static post<const P extends string>(path: P, handler: HandlerOf<P>): Route {
    return Route.of("POST", path, handler);
  }

  static put<const P extends string>(path: P, handler: HandlerOf<P>): Route {
    return Route.of("PUT", path, handler);
  }

  static patch<const P extends string>(path: P, handler: HandlerOf<P>): Route {
    return Route.of("PATCH", path, handler);
  }

  static delete<const P extends string>(path: P, handler: HandlerOf<P>): Route {
    return Route.of("DELETE", path, handler);
  }

  static head<const P extends string>(path: P, handler: HandlerOf<P>): Route {
    return Route.of("HEAD", path, handler);
  }

  static options<const P extends string>(path: P, handler: HandlerOf<P>): Route {
    return Route.of("OPTIONS", path, handler);
  }

  /** Answers every method that has no route of its own at the same template. */
  static any<const P extends string>(path: P, handler: HandlerOf<P>): Route {
    return Route.of("ANY", path, handler);
  }

  /** @internal */
  static of<P extends string>(method: Method, path: P, handler: HandlerOf<P>, options: RouteOptions = {}): Route {
    if (typeof handler !== "function") {
      throw new FrameworkError(`the route ${method} ${path} has no handler: give a function`, {
        code: "E_HANDLER_INVALID",
      });
    }
    // The matcher gives the handler exactly the parameters of this path, which the type of `handler` has been checked against.
    return new Route(method, pathText(path, `a ${method} route`), handler as Handler, options);
  }

  /** A dotted name, unique in the application: `links.show`. The last call counts. */
  name(name: string): this {
    this.dottedName = name;
    return this;
  }

  /** Puts middleware around this route only; the first is the outermost. It runs after the match, never on 404 or 405. */
  middleware(...middleware: readonly MiddlewareInput[]): this {
    this.around.push(...middleware);
    return this;
  }

  /** The same for a middleware written for Koa. */
  layer(...layers: readonly KoaMiddleware[]): this {
    this.around.push(...layers);
    return this;
  }

  /** @internal */
  flattened(prefix: string): readonly DraftRoute[] {
    const { method, handler, options } = this;
    const path = prefix === "" ? this.path : joinPaths(prefix, this.path);
    const descriptor = Object.freeze({
      method,
      path,
      handler: options.handlerName ?? (handler.name === "" ? "anonymous" : handler.name),
      name: this.dottedName,
      pages: Object.freeze([...(options.pages ?? [])]),
    });
    return [{ descriptor, path: Path.read(path), method, handler, middleware: [...this.around] }];
  }
}

/** A route with everything around it resolved: full path, and all middleware, outermost first. What the pipeline composes. */
export interface FlatRoute {
  readonly descriptor: RouteDescriptor;
  readonly path: Path;
  readonly method: Method;
  readonly handler: Handler;
  /** Collection outside group outside route; at one place in the order of the calls. */
  readonly middleware: readonly MiddlewareInput[];
}

/** The same before anyone has looked whether the template is one. */
export interface DraftRoute extends Omit<FlatRoute, "path"> {
  readonly path: Path | PathFault;
}

// The members of a collection or group as they may come from JavaScript: refused where they are written, which no finding could name.

/** A copy; throws `E_ROUTES_INVALID` for what is no list, and for a member that cannot be one. */
export function membersOf<T>(given: readonly T[], isMember: (candidate: unknown) => boolean): T[] {
  if (!Array.isArray(given)) throw invalidRoutes(`${nameOf(given)} is no list of routes`);
  const at = given.findIndex((member) => !isMember(member));
  if (at >= 0) throw invalidRoutes(`member ${at + 1}, ${nameOf(given[at])}, is neither a Route nor a RouteGroup`);
  return [...given];
}

export function invalidRoutes(what: string): FrameworkError {
  return new FrameworkError(`${what}; undefined often means that two files import each other`, {
    code: "E_ROUTES_INVALID",
  });
}

/**
 * Routes below one prefix that share middleware. Groups nest: their prefixes are joined, the outer group's middleware is outermost.
 * What a group puts around its routes reaches each of them and no sibling.
 *
 * @example
 * new RouteGroup("/admin", [Route.get("/", dashboard), Route.get("/users", users)]).middleware(SignedIn);
 */
export class RouteGroup {
  private readonly around: MiddlewareInput[] = [];
  private readonly prefix: string;
  private readonly members: readonly (Route | RouteGroup)[];

  /** Throws `E_ROUTE_PATH` for a prefix that is no text, `E_ROUTES_INVALID` for a member that is neither route nor group. */
  constructor(prefix: string, members: readonly (Route | RouteGroup)[]) {
    this.prefix = pathText(prefix, "a group");
    this.members = membersOf(members, isRouteOrGroup);
  }

  /** Puts middleware around each route of the group; the first is the outermost. It runs after the match, never on 404 or 405. */
  middleware(...middleware: readonly MiddlewareInput[]): this {
    this.around.push(...middleware);
    return this;
  }

  /** The same for a middleware written for Koa. */
  layer(...layers: readonly KoaMiddleware[]): this {
    this.around.push(...layers);
    return this;
  }

  /** @internal */
  flattened(prefix: string): readonly DraftRoute[] {
    const joined = prefix === "" ? this.prefix : joinPaths(prefix, this.prefix);
    const drafts = this.members.flatMap((member) => member.flattened(joined));
    return drafts.map((draft) => ({ ...draft, middleware: [...this.around, ...draft.middleware] }));
  }
}

/** What collections and groups are made of. @internal */
export function isRouteOrGroup(candidate: unknown): boolean {
  return candidate instanceof Route || candidate instanceof RouteGroup;
}
