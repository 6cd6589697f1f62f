/**
 * The @koa/router of a collection: holds its routes for whoever wants Koa's own, and lets routes be added by hand.
 * Requests of an application are not matched by it, because it walks a list; it is asked for routes that were added by hand, last.
 */
import { METHODS } from "node:http";
import { createRequire } from "node:module";
import type { Router, RouterMiddleware } from "@koa/router";
import { answerWith } from "../http/returned-value.js";
import { Context } from "../http/context.js";
import type { Next } from "../http/middleware.js";
import { Reply } from "../http/reply.js";
import type { FlatRoute } from "./route.js";
import { type InstanceOf, isMiddlewareClass, type MiddlewareInput } from "./middleware.js";

/** Loaded when the first router is asked for, which most applications never do: it would take its share of every start. */
function newRouter(): Router {
  // What the package exports, by its own declaration.
  const koaRouter = createRequire(import.meta.url)("@koa/router") as typeof import("@koa/router");
  return new koaRouter.Router({ sensitive: true, strict: true });
}

type Step = (ctx: Context, next: Next) => unknown;

export class KoaRouter {
  readonly router = newRouter();
  /** The router's own word for a registered route. */
  private own: ReadonlySet<unknown> = new Set();

  constructor(private readonly instanceOf: InstanceOf) {}

  /** Whether someone has added a route. */
  get hasAddedRoutes(): boolean {
    return this.router.stack.length > this.own.size;
  }

  /** The router with exactly these routes, the most specific first, before those added by hand. */
  holding(routes: readonly FlatRoute[]): Router {
    const { stack } = this.router;
    const foreign = stack.filter((layer) => !this.own.has(layer));
    stack.length = 0;
    for (const route of routes.toSorted(bySpecificity)) this.register(route);
    this.own = new Set(stack);
    stack.push(...foreign);
    return this.router;
  }

  private register({ descriptor, path, method, middleware, handler }: FlatRoute): void {
    const steps = [...middleware.map((input) => this.step(input)), handler].map(koaMiddleware);
    const methods = method === "ANY" ? METHODS : [method];
    this.router.register(
      path.forKoaRouter(),
      methods,
      steps,
      descriptor.name === undefined ? {} : { name: descriptor.name },
    );
  }

  private step(input: MiddlewareInput): Step {
    if (isMiddlewareClass(input)) return (ctx, next) => this.instanceOf(input).handle(ctx, next);
    return typeof input === "function" ? input : (ctx, next) => input.handle(ctx, next);
  }
}

/** HEAD before the GET that would answer it too, ANY after every method of its template. */
function bySpecificity(left: FlatRoute, right: FlatRoute): number {
  return left.path.compare(right.path) || rank(left) - rank(right);
}

function rank({ method }: FlatRoute): number {
  if (method === "HEAD") return 0;
  return method === "ANY" ? 2 : 1;
}

/** A returned value is an answer, as it is in the pipeline; Koa itself ignores it. */
function koaMiddleware(step: Step): RouterMiddleware {
  return async (koaContext, next) => {
    // What Koa passes is its own context or ours; both are what a step asks for, as far as Koa goes.
    const ctx = koaContext as unknown as Context;
    const value = await step(ctx, async () => void (await next()));
    if (value !== undefined) answer(ctx, value);
  };
}

function answer(ctx: Context, value: unknown): void {
  if (ctx instanceof Context) answerWith(ctx, value);
  else if (value instanceof Reply) applyReply(ctx, value);
  else (ctx as { body: unknown }).body = value;
}

/** On Koa's own context, by Koa's own means. */
function applyReply(ctx: Pick<Context, "status" | "body" | "set">, { statusCode, headers, type, body }: Reply): void {
  ctx.status = statusCode;
  ctx.set(headers);
  if (type !== undefined) ctx.set("Content-Type", type);
  if (body !== undefined) ctx.body = body;
}
