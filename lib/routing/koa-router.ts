/**
 * The @koa/router of a collection. It has the routes of the collection, and the application may add routes to it. The application does not
 * match its routes with this router, which tries one route after another. It asks the router last, for the added routes.
 */
import { METHODS } from "node:http";
import type { Router, RouterMiddleware } from "@koa/router";
import { requirePackage } from "../errors/optional-package.js";
import { Context } from "../http/request/context.js";
import type { Next } from "../http/middleware.js";
import { Reply } from "../http/response/reply.js";
import { respondWith } from "../http/response/returned-value.js";
import { isMiddlewareClass, type GetInstance, type MiddlewareInput } from "./middleware.js";
import type { Route } from "./route.js";

type FrameworkMiddleware = (ctx: Context, next: Next) => unknown;

export class KoaRouter {
  readonly router = createRouter();
  /** The entries of the router's stack that are routes of the collection. */
  private registered: ReadonlySet<unknown> = new Set();

  constructor(private readonly getInstance: GetInstance) {}

  /** Whether the application has added a route to the router. */
  get hasAddedRoutes(): boolean {
    return this.router.stack.length > this.registered.size;
  }

  /** Returns the router with exactly these routes, the most specific first, and the added routes after them. */
  withRoutes(routes: readonly Route[]): Router {
    const { stack } = this.router;
    const added = stack.filter((layer) => !this.registered.has(layer));
    stack.length = 0;
    for (const route of routes.toSorted(compareSpecificity)) this.register(route);
    this.registered = new Set(stack);
    stack.push(...added);
    return this.router;
  }

  private register({ descriptor: { name }, path, method, around, handler }: Route): void {
    const steps = [...around.map((input) => this.toFrameworkMiddleware(input)), handler].map(toKoaMiddleware);
    const methods = method === "ANY" ? METHODS : [method];
    this.router.register(path.toKoaRouterPath(), methods, steps, name === undefined ? {} : { name });
  }

  private toFrameworkMiddleware(input: MiddlewareInput): FrameworkMiddleware {
    if (isMiddlewareClass(input)) return (ctx, next) => this.getInstance(input).handle(ctx, next);
    return typeof input === "function" ? input : (ctx, next) => input.handle(ctx, next);
  }
}

/** Loads @koa/router with the first router. Most applications ask for none, and loading it makes the start slower. */
function createRouter(): Router {
  // The declaration of the package gives the type.
  const koaRouter = requirePackage("@koa/router") as typeof import("@koa/router");
  return new koaRouter.Router({ sensitive: true, strict: true });
}

/** Puts HEAD before the GET that would handle it too, and ANY after every method of its template. */
function compareSpecificity(left: Route, right: Route): number {
  return left.path.compare(right.path) || getRank(left) - getRank(right);
}

function getRank({ method }: Route): number {
  if (method === "HEAD") return 0;
  return method === "ANY" ? 2 : 1;
}

/** A returned value is a response, as it is in the pipeline; Koa itself ignores it. */
function toKoaMiddleware(step: FrameworkMiddleware): RouterMiddleware {
  return async (koaContext, next) => {
    // Koa passes a context of Koa, or that of the framework. Both have every member of Koa's context that a step uses.
    const ctx = koaContext as unknown as Context;
    const value = await step(ctx, async () => void (await next()));
    if (value !== undefined) respond(ctx, value);
  };
}

function respond(ctx: Context, value: unknown): void {
  if (ctx instanceof Context) respondWith(ctx, value);
  else if (value instanceof Reply) applyReply(ctx, value);
  else (ctx as { body: unknown }).body = value;
}

/** Writes a reply to a context of Koa. */
function applyReply(ctx: Pick<Context, "status" | "body" | "set">, { statusCode, headers, type, body }: Reply): void {
  ctx.status = statusCode;
  ctx.set(headers);
  if (type !== undefined) ctx.set("Content-Type", type);
  if (body !== undefined) ctx.body = body;
}
