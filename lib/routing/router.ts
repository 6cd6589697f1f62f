/**
 * The router stage: finds the route, binds its parameters, runs its middleware and handler, and turns what the handler returned into
 * the answer. What no template matches goes to routes added by hand to a @koa/router, then to the fallback, then is a 404.
 */
import { compose } from "../http/compose.js";
import type { Context } from "../http/context.js";
import { BadRequestError } from "../errors/framework-error.js";
import { answerReturned } from "../http/returned-value.js";
import { asPromise, isPromise, type KoaMiddleware, type Middleware, type Run } from "../http/middleware.js";
import type { Method } from "./handler.js";
import type { Path } from "./path.js";
import { Matcher } from "./matcher.js";

/** A route with everything resolved: instances, not classes. */
export interface Destination {
  readonly method: Method;
  readonly path: Path;
  readonly handler: (ctx: Context) => unknown;
  /** Outermost first. */
  readonly middleware: readonly (Middleware | KoaMiddleware)[];
}

/** Asked where no route of ours answers; has `fallback` answer where it has nothing either. */
export type UnmatchedHandler = (ctx: Context, fallback: Run) => void | Promise<void>;

export interface RouterOptions {
  /** Routes that were added by hand to a @koa/router: asked before a request is refused. */
  readonly addedRoutes?: UnmatchedHandler | undefined;
  /** Put around the 404 where no template matches the path: files. */
  readonly fallback?: ((inner: Run) => Run) | undefined;
}

export function dispatch(routes: readonly Destination[], options: RouterOptions = {}): Run {
  const { addedRoutes = (ctx, next) => next(ctx) } = options;
  const fallback = options.fallback?.(leave) ?? leave;
  const index = new Matcher(routes.map((route) => ({ ...route, value: runOf(route) })));
  return (ctx) => {
    const { path, method } = ctx;
    const match = index.match(method, path);
    if (match.kind === "found") {
      ctx.bindParams(match.params(path));
      return match.value(ctx);
    }
    if (match.kind === "malformed") throw new BadRequestError("The path is not valid percent-encoded UTF-8.");
    return addedRoutes(ctx, "allow" in match ? (refused) => refuse(refused, match.allow) : fallback);
  };
}

/** `OPTIONS *` asks about the server as a whole, and there is nothing to say (RFC 9110 section 9.3.7). */
function leave(ctx: Context): void {
  if (ctx.method === "OPTIONS" && ctx.path === "*") ctx.answerStatus(204);
}

function refuse(ctx: Context, allow: string): void {
  ctx.raw.setHeader("Allow", allow);
  ctx.answerStatus(ctx.method === "OPTIONS" ? 204 : 405);
}

function runOf({ handler, middleware }: Destination): Run {
  const last: Run = (ctx) => {
    const value = handler(ctx);
    return isPromise(value)
      ? asPromise(value).then((returned) => answerReturned(ctx, returned))
      : answerReturned(ctx, value);
  };
  return middleware.length === 0 ? last : compose(middleware, last);
}
