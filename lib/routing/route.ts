/**
 * A route without decorators: a method, a path and a handler, with a name and middleware of its own. Put it into `Routes`, or first
 * into a `RouteGroup`, which gives it a prefix. The application reads it when it is built; changes before that count.
 *
 * A handler may ask for the captures of the route's own path. A `Context<string>` reads the captures of a group's prefix too.
 *
 * @example
 * Route.get("/links/{id}", ({ params }) => store.find(params.id)).name("links.show").middleware(SignedIn);
 */
import { nameOf } from "../di/token.js";
import { FrameworkError } from "../errors/framework-error.js";
import type { KoaMiddleware } from "../http/middleware.js";
import type { Endpoint, Method } from "./endpoint.js";
import type { Handler, HandlerOf } from "./handler.js";
import type { MiddlewareInput } from "./middleware.js";
import { joinPaths, Path, pathText, type PathFault } from "./path.js";

/** The part of an endpoint that is data: a route has it too. */
type Declaration = Pick<Endpoint, "method" | "path" | "name" | "pages">;

/** A route as data; it does not change while the application runs. `path` is the template with all prefixes: `/teams/{team}/links`. */
export interface RouteDescriptor extends Declaration {
  /** `LinksController.show`; for a function its name, else `anonymous`. */
  readonly handler: string;
}

export class Route {
  private parsed: Path | PathFault | undefined;

  private constructor(
    private declared: Declaration,
    /** @internal */
    readonly handler: Handler,
    private readonly handlerName: string,
    private readonly ownMiddleware: MiddlewareInput[] = [],
  ) {}

  static get<const P extends string>(path: P, handler: HandlerOf<P>): Route {
    return declaredRoute("GET", path, handler);
  }

  static post<const P extends string>(path: P, handler: HandlerOf<P>): Route {
    return declaredRoute("POST", path, handler);
  }

  static put<const P extends string>(path: P, handler: HandlerOf<P>): Route {
    return declaredRoute("PUT", path, handler);
  }

  static patch<const P extends string>(path: P, handler: HandlerOf<P>): Route {
    return declaredRoute("PATCH", path, handler);
  }

  static delete<const P extends string>(path: P, handler: HandlerOf<P>): Route {
    return declaredRoute("DELETE", path, handler);
  }

  static head<const P extends string>(path: P, handler: HandlerOf<P>): Route {
    return declaredRoute("HEAD", path, handler);
  }

  static options<const P extends string>(path: P, handler: HandlerOf<P>): Route {
    return declaredRoute("OPTIONS", path, handler);
  }

  /** Answers every method that has no route of its own at the same template. */
  static any<const P extends string>(path: P, handler: HandlerOf<P>): Route {
    return declaredRoute("ANY", path, handler);
  }

  /** The route of an endpoint. @internal */
  static of(
    { method, path, name, pages }: Declaration,
    handler: Handler,
    handlerName = handler.name === "" ? "anonymous" : handler.name,
  ): Route {
    return new Route({ method, path, name, pages }, handler, handlerName);
  }

  /** A dotted name, unique in the application: `links.show`. The last call counts. */
  name(name: string): this {
    this.declared = { ...this.declared, name };
    return this;
  }

  /** Puts middleware around this route only; the first is the outermost. It runs after the match, never on 404 or 405. */
  middleware(...middleware: readonly MiddlewareInput[]): this {
    this.ownMiddleware.push(...middleware);
    return this;
  }

  /** The same for middleware written for Koa. */
  layer(...layers: readonly KoaMiddleware[]): this {
    return this.middleware(...layers);
  }

  /** This route below a prefix, with more middleware around its own: a copy, which later calls do not change. @internal */
  flattened(prefix = "", outer: readonly MiddlewareInput[] = []): readonly Route[] {
    const path = prefix === "" ? this.declared.path : joinPaths(prefix, this.declared.path);
    return [new Route({ ...this.declared, path }, this.handler, this.handlerName, [...outer, ...this.ownMiddleware])];
  }

  /** @internal */
  get descriptor(): RouteDescriptor {
    const { method, path, name, pages } = this.declared;
    return Object.freeze({ method, path, handler: this.handlerName, name, pages });
  }

  /** @internal */
  get method(): Method {
    return this.declared.method;
  }

  /** The middleware around the handler, outermost first. @internal */
  get around(): readonly MiddlewareInput[] {
    return this.ownMiddleware;
  }

  /** The parsed template, or the reason why it is no template. @internal */
  get pathOrFault(): Path | PathFault {
    return (this.parsed ??= Path.read(this.declared.path));
  }

  /** The parsed template; throws `E_ROUTE_PATH` where it is no template. @internal */
  get path(): Path {
    const path = this.pathOrFault;
    return path instanceof Path ? path : Path.of(path.template);
  }
}

function declaredRoute<P extends string>(method: Method, path: P, handler: HandlerOf<P>): Route {
  if (typeof handler !== "function") {
    throw new FrameworkError(`the route ${method} ${path} has no handler: give a function`, {
      code: "E_HANDLER_INVALID",
    });
  }
  const declared = { method, path: pathText(path, `a ${method} route`), name: undefined, pages: NO_PAGES };
  // The matcher gives the handler the parameters of this path, and the type of the parameter has compared the two.
  return Route.of(declared, handler as Handler);
}

const NO_PAGES: readonly string[] = Object.freeze([]);

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

  /** Throws `E_ROUTE_PATH` for a prefix that is no string, `E_ROUTES_INVALID` for a member that is neither route nor group. */
  constructor(prefix: string, members: readonly (Route | RouteGroup)[]) {
    this.prefix = pathText(prefix, "a group");
    this.members = membersOf(members);
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

  /** The routes below a prefix, with more middleware around them. @internal */
  flattened(prefix = "", outer: readonly MiddlewareInput[] = []): readonly Route[] {
    const start = prefix === "" ? this.prefix : joinPaths(prefix, this.prefix);
    const around = [...outer, ...this.around];
    return this.members.flatMap((member) => member.flattened(start, around));
  }
}

/**
 * A copy of the members of a collection or a group. Throws `E_ROUTES_INVALID` for a value that is no list, and for a member that is
 * neither route nor group: plain JavaScript can give both, and here the stack names the line.
 */
export function membersOf(given: readonly (Route | RouteGroup)[]): (Route | RouteGroup)[] {
  if (!Array.isArray(given)) throw invalidRoutes(`${nameOf(given)} is no list of routes`);
  const at = given.findIndex((member) => !(member instanceof Route || member instanceof RouteGroup));
  if (at >= 0) throw invalidRoutes(`member ${at + 1}, ${nameOf(given[at])}, is neither a Route nor a RouteGroup`);
  return [...given];
}

export function invalidRoutes(what: string): FrameworkError {
  return new FrameworkError(`${what}; undefined often means that two files import each other`, {
    code: "E_ROUTES_INVALID",
  });
}
