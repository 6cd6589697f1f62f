/**
 * The router stage. It finds the route of a request, gives the context its parameters, runs its middleware and handler, and converts the
 * returned value into the response. A request without a route goes to routes that the application added to a @koa/router, then to the
 * fallback; else it is a 404.
 */
import { BadRequestError } from "../errors/framework-error.js";
import { compose } from "../http/compose.js";
import type { Context } from "../http/request/context.js";
import { toPromise, isPromise, type KoaMiddleware, type Middleware, type Run } from "../http/middleware.js";
import { respondWithReturned } from "../http/response/returned-value.js";
import { getHandler } from "../contracts/contract-handler.js";
import type { ReadyContract } from "../contracts/contract-plan.js";
import { runGuarded } from "../contracts/guarded-run.js";
import type { Handler } from "../endpoints/handler.js";
import { BoundRoute, Matcher, type MethodMismatch } from "./matcher.js";
import { ACCEPT_QUERY, withRouteHeaders } from "./route-headers.js";
import type { Route } from "./route.js";

/** Runs for a request without a route; calls `fallback` if it has no response. */
export type UnmatchedHandler = (ctx: Context, fallback: Run) => void | Promise<void>;

/**
 * @param addedRoutes routes that the application added to a @koa/router: they run before a request is refused
 * @param fallback runs for a path that no template matches: static files
 */
export function dispatch(routes: readonly BoundRoute[], addedRoutes: UnmatchedHandler, fallback: Run): Run {
  const matcher = new Matcher(routes);
  return (ctx) => {
    const { path, method } = ctx;
    const match = matcher.match(method, path);
    if (match.kind === "route") {
      ctx.matchedRoute = match;
      ctx.bindParams(match.params(path));
      return match.run(ctx);
    }
    if (match.kind === "malformed") throw new BadRequestError("The path is not valid percent-encoded UTF-8.");
    return addedRoutes(ctx, "allow" in match ? (refused) => refuseMethod(refused, match) : fallback);
  };
}

/**
 * Returns the route with its chain composed: its guards, its middleware, the check of its contract, its handler.
 *
 * @param middleware that of the route, outermost first, with instances in place of classes
 * @param acceptQuery the media types of QUERY at the template of the route
 */
export function bindRoute(
  route: Route,
  middleware: readonly (Middleware | KoaMiddleware)[],
  contract?: ReadyContract,
  acceptQuery?: string,
): BoundRoute {
  const { method, path } = route;
  const run = createRun(getHandler(route, contract));
  const composed = middleware.length === 0 ? run : compose(middleware, run);
  const inner = method === "QUERY" ? requireContentType(composed) : composed;
  const guarded = contract === undefined ? inner : runGuarded(contract.guards, inner);
  const { descriptor } = route;
  const isDeprecated = descriptor.deprecated !== undefined || descriptor.sunset !== undefined;
  return new BoundRoute(method, path, withRouteHeaders(guarded, descriptor, acceptQuery), acceptQuery, isDeprecated);
}

/** A body whose media type is not known is no query (RFC 10008 section 2). */
function requireContentType(run: Run): Run {
  return (ctx) => {
    if ((ctx.incoming.headers["content-type"] ?? "") === "")
      throw new BadRequestError("A QUERY request needs a Content-Type.");
    return run(ctx);
  };
}

function createRun(handler: Handler): Run {
  return (ctx) => {
    const value = handler(ctx);
    return isPromise(value)
      ? toPromise(value).then((returned) => respondWithReturned(ctx, returned))
      : respondWithReturned(ctx, value);
  };
}

/** `OPTIONS *` asks about the server as a whole, which itself has no options (RFC 9110 section 9.3.7). */
export function leaveUnmatched(ctx: Context): void {
  if (ctx.method === "OPTIONS" && ctx.path === "*") ctx.setStatus(204);
}

function refuseMethod(ctx: Context, { allow, acceptQuery }: MethodMismatch): void {
  ctx.raw.setHeader("Allow", allow);
  if (acceptQuery !== undefined) ctx.raw.setHeader(ACCEPT_QUERY, acceptQuery);
  ctx.setStatus(ctx.method === "OPTIONS" ? 204 : 405);
}
