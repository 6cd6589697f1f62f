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
import type { DraftRoute } from "./flat-route.js";
import type { AnyHandler, Handler, HandlerOf } from "./handler.js";
import { joinPaths } from "./join-paths.js";
import type { Method } from "./method.js";
import type { MiddlewareInput } from "./middleware-input.js";
import { Path } from "./path.js";
import { pathText } from "./path-text.js";

/** What a route is besides its method, path and handler. */
export interface RouteOptions {
  readonly name?: string | undefined;
  readonly pages?: readonly string[] | undefined;
  /** How the handler is called in descriptions; else the function's own name. */
  readonly handlerName?: string | undefined;
  /** The function that the handler calls; else the handler itself. */
  readonly written?: AnyHandler | undefined;
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
  drafts(prefix: string): readonly DraftRoute[] {
    const { method, handler, options } = this;
    const path = prefix === "" ? this.path : joinPaths(prefix, this.path);
    const descriptor = Object.freeze({
      method,
      path,
      handler: options.handlerName ?? (handler.name === "" ? "anonymous" : handler.name),
      name: this.dottedName,
      pages: Object.freeze([...(options.pages ?? [])]),
    });
    const written = options.written ?? handler;
    return [{ descriptor, path: Path.read(path), method, handler, written, middleware: [...this.around] }];
  }
}
