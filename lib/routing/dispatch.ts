/**
 * The router stage: finds the route, binds its parameters, runs its middleware and handler, and turns what the handler returned into
 * the answer. What no template matches goes to routes added by hand to a @koa/router, then to the fallback, then is a 404.
 */
import { answerWith } from "../kernel/answer.js";
import { compose } from "../kernel/compose.js";
import type { Context } from "../kernel/context.js";
import { BadRequestError } from "../kernel/errors.js";
import { firstChunk } from "../kernel/first-chunk.js";
import { isPromise, type KoaMiddleware, type Middleware, type Run } from "../kernel/middleware.js";
import { isStream } from "../kernel/stream.js";
import type { NotFound } from "./found.js";
import type { Method } from "./method.js";
import type { Path } from "./path.js";
import { RouteIndex } from "./route-index.js";

/** A route with everything resolved: instances, not classes. */
export interface Destination {
  readonly method: Method;
  readonly path: Path;
  readonly handler: (ctx: Context) => unknown;
  /** Outermost first. */
  readonly middleware: readonly (Middleware | KoaMiddleware)[];
}

/** @param unmatched what no template matches; it may leave the context alone, which is a 404 */
export function dispatch(routes: readonly Destination[], unmatched: Run = leave): Run {
  const index = new RouteIndex(routes.map((route) => ({ ...route, value: runOf(route) })));
  return (ctx) => {
    const { path, method } = ctx;
    const match = index.match(method, path);
    if (match.kind === "found") {
      ctx.bindParams(match.params(path));
      return match.value(ctx);
    }
    if (match.kind === "not-found" && path !== "*") return unmatched(ctx);
    refuse(ctx, match);
    return undefined;
  };
}

function leave(): void {}

function refuse(ctx: Context, match: NotFound): void {
  if (match.kind === "malformed") throw new BadRequestError("The path is not valid percent-encoded UTF-8.");
  if ("allow" in match) ctx.raw.setHeader("Allow", match.allow);
  if (match.kind === "method-not-allowed") ctx.answerStatus(405);
  else if (ctx.method === "OPTIONS") ctx.answerStatus(204);
}

function runOf({ handler, middleware }: Destination): Run {
  const last: Run = (ctx) => {
    const value = handler(ctx);
    return isPromise(value) ? value.then((returned) => settle(ctx, returned)) : settle(ctx, value);
  };
  return middleware.length === 0 ? last : compose(middleware, last);
}

function settle(ctx: Context, value: unknown): void | Promise<void> {
  answerWith(ctx, value);
  return isStream(ctx.payload) ? firstChunk(ctx, ctx.payload) : undefined;
}
