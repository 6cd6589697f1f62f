/**
 * The table of the routes of a collection, and on request a @koa/router whose layers are the routes, the most specific first. The routes
 * that an application adds to the router stay behind them. In front of the layers are indexes: of names, for URLs, and of paths, for the
 * stages that need the route of a request before the router stage. `Matcher` is the index for requests.
 */
import type { Router, RouterMiddleware } from "@koa/router";
import { getHandler } from "../contracts/contract-handler.js";
import type { ReadyContract } from "../contracts/contract-plan.js";
import { runGuarded } from "../contracts/guarded-run.js";
import { getFullTemplate, type AnyEndpoint } from "../endpoints/endpoint.js";
import type { RouteOptions } from "../endpoints/route-options.js";
import { joinPaths } from "../endpoints/filled-path.js";
import { Path, type PathParameter } from "../endpoints/path.js";
import { FrameworkError, NotFoundError } from "../errors/framework-error.js";
import type { Next } from "../http/middleware.js";
import packages from "../http/packages.cjs";
import { Context } from "../http/request/context.js";
import { Reply } from "../http/response/reply.js";
import { respondWith } from "../http/response/returned-value.js";
import { nodeHttp } from "../runtime/node-http.js";
import { BoundRoute, Matcher } from "./matcher.js";
import { isMiddlewareClass, type GetInstance, type MiddlewareInput } from "./middleware.js";
import type { Route, RouteDescriptor } from "./route.js";

/** A route, and the instances of its middleware classes. */
export interface TableRow {
  readonly route: Route;
  readonly getInstance: GetInstance;
  /** Of a route with a contract in an application. */
  readonly contract?: ReadyContract | undefined;
}

type FrameworkMiddleware = (ctx: Context, next: Next) => unknown;

export class RouteTable {
  /** The rows whose path is valid. */
  rows: readonly TableRow[] = [];
  /** Exists from the first request for it: few applications ask, and each layer compiles its path again. */
  private koaRouter: Router | undefined;
  /** The layers of the router that are rows. */
  private layers: ReadonlySet<unknown> = new Set();
  private isRouterFilled = true;
  private templates: ReadonlyMap<string, string> = new Map();
  private titles: ReadonlySet<string> = new Set();
  /** Whether a route has options that a stage asks for. */
  private hasOptions = false;
  private index: RouteIndex | undefined;

  /** Replaces the rows. */
  fill(rows: readonly TableRow[]): void {
    const routes = rows.map(({ route }) => route);
    this.rows = Object.freeze(rows.filter(({ route }) => route.pathOrFault instanceof Path));
    this.templates = listTemplatesByName(routes);
    this.titles = new Set(routes.map(({ method, descriptor: { path } }) => `${method} ${joinPaths("", path)}`));
    this.hasOptions = routes.some(({ descriptor: { csrf, bearer } }) => csrf !== undefined || bearer === true);
    this.index = undefined;
    this.isRouterFilled = false;
  }

  /** The router with the rows as layers, and the added routes after them. */
  get router(): Router {
    const router = (this.koaRouter ??= new packages.Router({ sensitive: true, strict: true }));
    if (!this.isRouterFilled) this.fillRouter();
    return router;
  }

  /** Fills the router if it exists. */
  fillRouter(): void {
    const router = this.koaRouter;
    if (router === undefined) return;
    const { stack } = router;
    const added = stack.filter((layer) => !this.layers.has(layer));
    stack.length = 0;
    for (const row of this.rows.toSorted(compareSpecificity)) register(router, row);
    this.layers = new Set(stack);
    stack.push(...added);
    this.isRouterFilled = true;
  }

  /** Whether the application has added a route to the router. */
  get hasAddedRoutes(): boolean {
    return this.koaRouter !== undefined && this.koaRouter.stack.length > this.layers.size;
  }

  urlFor(name: string, params: readonly PathParameter[]): string {
    const template = this.templates.get(name);
    if (template !== undefined) return Path.of(template).fill(params);
    throw new NotFoundError(`no route is named "${name}"`, { code: "E_ROUTE_NAME" });
  }

  serves(endpoint: AnyEndpoint): boolean {
    const path = getFullTemplate(endpoint);
    return this.titles.has(`${endpoint.method} ${path}`) || this.titles.has(`ANY ${path}`);
  }

  /** The first call builds the index: few applications ask, and only for a request that is about to be refused. */
  find(method: string, path: string): RouteDescriptor | undefined {
    const { matcher, descriptors } = (this.index ??= createIndex(this.rows));
    const match = matcher.match(method, path);
    return match.kind === "route" ? descriptors.get(match) : undefined;
  }

  findOptions(method: string, path: string): RouteOptions | undefined {
    return this.hasOptions ? this.find(method, path) : undefined;
  }

  named(): readonly (readonly [string, string])[] {
    return [...this.templates].toSorted(([left], [right]) => (left < right ? -1 : 1));
  }
}

interface RouteIndex {
  readonly matcher: Matcher;
  readonly descriptors: ReadonlyMap<BoundRoute, RouteDescriptor>;
}

function createIndex(rows: readonly TableRow[]): RouteIndex {
  const bound = rows.map(
    ({ route }) => [new BoundRoute(route.method, route.path, () => {}), route.descriptor] as const,
  );
  const descriptors = new Map(bound);
  return { matcher: new Matcher(descriptors.keys()), descriptors };
}

/** The first route of a name has it; a second one is a diagnostic. */
function listTemplatesByName(routes: readonly Route[]): ReadonlyMap<string, string> {
  const templates = new Map<string, string>();
  for (const { descriptor } of routes) {
    const { name, path } = descriptor;
    if (name !== undefined && !templates.has(name)) templates.set(name, path);
  }
  return templates;
}

/** Puts HEAD before the GET that would handle it too, and ANY after every method of its template. */
function compareSpecificity({ route: left }: TableRow, { route: right }: TableRow): number {
  return left.path.compare(right.path) || getRank(left) - getRank(right);
}

function getRank({ method }: Route): number {
  if (method === "HEAD") return 0;
  return method === "ANY" ? 2 : 1;
}

function register(router: Router, { route, getInstance, contract }: TableRow): void {
  const { path, method, around } = route;
  const { name } = route.descriptor;
  const inner = [...around.map((input) => toFrameworkMiddleware(input, getInstance)), getHandler(route, contract)];
  const guarded = contract === undefined ? [] : [createGuardStep(contract)];
  const steps = [...guarded, ...inner].map(toKoaMiddleware);
  const methods = method === "ANY" ? nodeHttp.METHODS : [method];
  router.register(path.toKoaRouterPath(), methods, steps, name === undefined ? {} : { name });
}

function createGuardStep({ guards }: ReadyContract): FrameworkMiddleware {
  return (ctx, next) => {
    if (ctx instanceof Context) return runGuarded(guards, next)(ctx);
    throw new FrameworkError("a route with schemas or guards was given a context of another Koa application", {
      code: "E_CONTRACT_ALONE",
    });
  };
}

function toFrameworkMiddleware(input: MiddlewareInput, getInstance: GetInstance): FrameworkMiddleware {
  if (isMiddlewareClass(input)) return (ctx, next) => getInstance(input).handle(ctx, next);
  return typeof input === "function" ? input : (ctx, next) => input.handle(ctx, next);
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
