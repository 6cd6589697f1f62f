/**
 * A route without decorators: a method, a path and a handler, with a name and with middleware for this route. Put it into `Routes`, or
 * first into a `RouteGroup`, which gives it a prefix. The application reads it when it is built; changes before that count.
 *
 * A handler may ask for the captures of the path of the route. A `Context<string>` reads the captures of a group's prefix too.
 *
 * @example
 * Route.get("/links/{id}", ({ params }) => store.find(params.id)).name("links.show").middleware(SignedIn);
 * Route.of(links.show, ({ params }) => store.find(params.id)); // links.show.url(7) stays typed
 * Route.post("/hooks/pay", paid, { csrf: "exempt" }); // paid checks a signature
 */
import { describeToken } from "../di/token.js";
import { refuseForeignCopy } from "../errors/copy.js";
import { markKind } from "../errors/copy-mark.js";
import type { FrameworkError } from "../errors/framework-error.js";
import type { KoaMiddleware } from "../http/middleware.js";
import { createRoutesError, isEndpoint, formatRoute, type AnyEndpoint, type Endpoint } from "../endpoints/endpoint.js";
import type { Method } from "../endpoints/method.js";
import type { FitsContext, FitsResult, Handler, HandlerOf } from "../endpoints/handler.js";
import { checkRouteOptions, pickRouteOptions, type RouteOptions } from "../endpoints/route-options.js";
import type { MiddlewareInput } from "./middleware.js";
import { joinPaths } from "../endpoints/filled-path.js";
import { Path, requirePathText, type PathFault } from "../endpoints/path.js";
import { createSetupError } from "../errors/setup-error.js";

/** The part of an endpoint that is data: a route has it too. */
type Declaration = Pick<AnyEndpoint, "method" | "path" | "name" | "pages" | "alsoPost" | keyof RouteOptions> &
  Partial<Pick<AnyEndpoint, "contract">>;

/** A route as data; it does not change while the application runs. `path` is the template with all prefixes: `/teams/{team}/links`. */
export interface RouteDescriptor extends Omit<Declaration, "alsoPost"> {
  /** `LinksController.show`; for a function its name, else `anonymous`. */
  readonly handler: string;
}

export class Route {
  private parsed: Path | PathFault | undefined;

  static {
    markKind(this.prototype, "route");
  }

  private constructor(
    private declared: Declaration,
    /** @internal */
    readonly handler: Handler,
    private readonly handlerName: string,
    private readonly ownMiddleware: MiddlewareInput[] = [],
    /** Called by `Route.of`. @internal */
    readonly endpoint?: AnyEndpoint,
  ) {}

  static get<const P extends string>(path: P, handler: HandlerOf<P>, options?: RouteOptions): Route {
    return createDeclaredRoute("GET", path, handler, options);
  }

  static post<const P extends string>(path: P, handler: HandlerOf<P>, options?: RouteOptions): Route {
    return createDeclaredRoute("POST", path, handler, options);
  }

  static put<const P extends string>(path: P, handler: HandlerOf<P>, options?: RouteOptions): Route {
    return createDeclaredRoute("PUT", path, handler, options);
  }

  static patch<const P extends string>(path: P, handler: HandlerOf<P>, options?: RouteOptions): Route {
    return createDeclaredRoute("PATCH", path, handler, options);
  }

  static delete<const P extends string>(path: P, handler: HandlerOf<P>, options?: RouteOptions): Route {
    return createDeclaredRoute("DELETE", path, handler, options);
  }

  static head<const P extends string>(path: P, handler: HandlerOf<P>, options?: RouteOptions): Route {
    return createDeclaredRoute("HEAD", path, handler, options);
  }

  static options<const P extends string>(path: P, handler: HandlerOf<P>, options?: RouteOptions): Route {
    return createDeclaredRoute("OPTIONS", path, handler, options);
  }

  /** A request without `Content-Type` is a 400, and the response is `no-store` unless the handler says otherwise (RFC 10008). */
  static query<const P extends string>(path: P, handler: HandlerOf<P>, options?: RouteOptions): Route {
    return createDeclaredRoute("QUERY", path, handler, options);
  }

  /** Handles every method that has no separate route at the same template. */
  static any<const P extends string>(path: P, handler: HandlerOf<P>, options?: RouteOptions): Route {
    return createDeclaredRoute("ANY", path, handler, options);
  }

  /**
   * The route of an endpoint: its method, path and name. The `url` of the endpoint includes the prefixes of the groups around the route
   * as soon as the route is in a `Routes`.
   */
  // The parameter and the result are inferred and checked apart: so a parameter without a type gets that of the endpoint, and the compiler
  // ends its message with a text.
  static of<P extends string, O, A, R, C = Endpoint<P, O, A>["~context"]>(
    endpoint: Endpoint<P, O, A>,
    handler: ((ctx: C) => R & FitsResult<R, Endpoint<P, O, A>>) & FitsContext<C, Endpoint<P, O, A>>,
  ): Route {
    refuseForeignCopy(endpoint);
    if (!isEndpoint(endpoint)) throw createRoutesError(`${describeToken(endpoint)} is not an endpoint`);
    if (typeof handler !== "function") throw createHandlerError(endpoint);
    // The type of the parameter has compared the handler with the endpoint.
    return new Route(pickDeclaration(endpoint), handler as unknown as Handler, getHandlerName(handler), [], endpoint);
  }

  /** The route of a method of a controller, which mounts its endpoints itself. @internal */
  static forMethod(endpoint: Declaration, handler: Handler, handlerName: string): Route {
    return new Route(pickDeclaration(endpoint), handler, handlerName);
  }

  /** A route without an endpoint. @internal */
  static declared(declared: Declaration, handler: Handler): Route {
    return new Route(declared, handler, getHandlerName(handler));
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

  /**
   * Returns this route below a prefix, with more middleware around the middleware of the route: a copy, which later calls do not change.
   * An endpoint of QUERY that also handles POST has two routes. @internal
   */
  flatten(prefix = "", outer: readonly MiddlewareInput[] = []): readonly Route[] {
    const { alsoPost = false, ...declared } = this.declared;
    const path = prefix === "" ? declared.path : joinPaths(prefix, declared.path);
    const around = [...outer, ...this.ownMiddleware];
    const create = (more: Partial<Declaration>): Route =>
      new Route({ ...declared, path, ...more }, this.handler, this.handlerName, around, this.endpoint);
    const name = declared.name && `${declared.name}.post`;
    return alsoPost ? [create({}), create({ method: "POST", name })] : [create({})];
  }

  /** @internal */
  get descriptor(): RouteDescriptor {
    return Object.freeze({ ...this.declared, handler: this.handlerName });
  }

  /** @internal */
  get method(): Method {
    return this.declared.method;
  }

  /** The middleware around the handler, outermost first. @internal */
  get around(): readonly MiddlewareInput[] {
    return this.ownMiddleware;
  }

  /** The parsed template, or the reason why it is not a template. @internal */
  get pathOrFault(): Path | PathFault {
    return (this.parsed ??= Path.read(this.declared.path));
  }

  /** The parsed template; throws `E_ROUTE_PATH` where it is not a template. @internal */
  get path(): Path {
    const path = this.pathOrFault;
    return path instanceof Path ? path : Path.of(path.template);
  }
}

function createDeclaredRoute<P extends string>(
  method: Method,
  path: P,
  handler: HandlerOf<P>,
  options: RouteOptions = {},
): Route {
  if (typeof handler !== "function") throw createHandlerError({ method, path });
  const checked = checkRouteOptions(options, formatRoute({ method, path }));
  const declared = {
    method,
    path: requirePathText(path, `a ${method} route`),
    name: undefined,
    pages: NO_PAGES,
    ...checked,
  };
  // The matcher gives the handler the parameters of this path, and the type of the parameter has compared the two.
  return Route.declared(declared, handler as Handler);
}

function createHandlerError(route: Pick<AnyEndpoint, "method" | "path">): FrameworkError {
  return createSetupError("E_HANDLER_INVALID", `the route ${formatRoute(route)} has no handler: give a function`);
}

function pickDeclaration({ method, path, name, pages, contract, alsoPost, ...options }: Declaration): Declaration {
  const flags = alsoPost === true ? { alsoPost } : {};
  return { method, path, name, pages, ...flags, ...(contract && { contract }), ...pickRouteOptions(options) };
}

function getHandlerName({ name }: { readonly name: string }): string {
  return name === "" ? "anonymous" : name;
}

const NO_PAGES: readonly string[] = Object.freeze([]);
