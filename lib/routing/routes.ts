/**
 * A collection of routes and groups. An application is given collections, and the collection of the application returns URLs for the names
 * of routes.
 *
 * Its middleware covers every route that is present at the call. A route that is merged later is not covered, and the application logs a
 * warning at start. A route that is added to `router()` runs after all routes of the collection.
 *
 * @example
 * const routes = new Routes([Route.get("/", home), new RouteGroup("/links", [Route.get("/{id}", show).name("links.show")])]);
 * routes.urlFor("links.show", [7]); // "/links/7"
 */
import type { Router } from "@koa/router";
import { describeToken } from "../di/token.js";
import type { Diagnostic, Warning } from "../errors/diagnostic.js";
import { FrameworkError, NotFoundError } from "../errors/framework-error.js";
import type { KoaMiddleware } from "../http/middleware.js";
import {
  createRoutesError,
  mount,
  getFullTemplate,
  formatRoute,
  type Endpoint,
  type RouteOptions,
} from "../endpoints/endpoint.js";
import { KoaRouter } from "./koa-router.js";
import { BoundRoute, Matcher } from "./matcher.js";
import { createInstanceCache, type GetInstance, type MiddlewareInput } from "./middleware.js";
import { joinPaths, Path, type PathParameter } from "../endpoints/path.js";
import { diagnoseRoutes } from "./route-diagnostics.js";
import { checkMembers, RouteGroup } from "./route-group.js";
import { Route, type RouteDescriptor } from "./route.js";
import { setupError } from "../errors/setup-error.js";

type Member = Route | RouteGroup | Routes;

/** A middleware of the collection. It covers the first `memberCount` members: those that were present at the call. */
interface CollectionMiddleware {
  readonly input: MiddlewareInput;
  readonly memberCount: number;
}

/** The router of `routes.router()`: the type of @koa/router under a name that declaration files can write, also under pnpm. */
export interface RoutesRouter extends Router {}

export class Routes {
  private readonly members: Member[];
  private readonly ownMiddleware: CollectionMiddleware[] = [];
  private koaRouter: KoaRouter | undefined;
  private sealed: RouteTable | undefined;
  private getInstance: GetInstance = createInstanceCache();

  /** Throws `E_ROUTES_INVALID` for a member that is neither route nor group. */
  constructor(members: readonly (Route | RouteGroup)[] = []) {
    this.members = checkMembers(members);
    for (const { endpoint, descriptor } of this.flatten()) {
      if (endpoint !== undefined) mount(endpoint, joinPaths("", descriptor.path));
    }
  }

  static of(...members: readonly (Route | RouteGroup)[]): Routes {
    return new Routes(members);
  }

  /** Puts middleware around every route present now; the first is the outermost. It runs after the match, never on 404 or 405. */
  middleware(...middleware: readonly MiddlewareInput[]): this {
    this.refuseWhenSealed();
    for (const input of middleware) this.ownMiddleware.push({ input, memberCount: this.members.length });
    return this;
  }

  /** The same for middleware written for Koa. */
  layer(...layers: readonly KoaMiddleware[]): this {
    return this.middleware(...layers);
  }

  /** Adds the routes of another collection with their middleware. Throws `E_ROUTES_CYCLE` for a collection that contains this one. */
  merge(other: Routes): this {
    this.refuseWhenSealed();
    if (!(other instanceof Routes)) throw createRoutesError(`${describeToken(other)} is not a Routes`);
    if (other.contains(this)) {
      throw setupError(
        new FrameworkError("a collection of routes cannot be merged into itself: merge another one", {
          code: "E_ROUTES_CYCLE",
        }),
      );
    }
    this.members.push(other);
    return this;
  }

  /**
   * Returns the path of a named route, its parameters in the order of the template, each percent-encoded. Throws `NotFoundError` with
   * `E_ROUTE_NAME` for an undeclared name, `E_ROUTE_PARAM` for a parameter that does not fit.
   */
  urlFor(name: string, params: readonly PathParameter[] = []): string {
    return this.getTable().urlFor(name, params);
  }

  /** Throws `NotFoundError` with `E_ROUTE_NAME` unless a route has the template of the endpoint, for its method or for any. @internal */
  requireRoute(endpoint: Endpoint): void {
    if (this.getTable().serves(endpoint)) return;
    throw new NotFoundError(`${formatRoute(endpoint)} is not a route of this application`, { code: "E_ROUTE_NAME" });
  }

  /** Finds the route of a request; `undefined` where no route matches. @internal */
  find(method: string, path: string): RouteDescriptor | undefined {
    return this.getTable().find(method, path);
  }

  /** Finds the options of the route of a request; `undefined` without such a route, or without options. @internal */
  findOptions(method: string, path: string): RouteOptions | undefined {
    return this.getTable().findOptions(method, path);
  }

  /** Every name with its template, in name order: a snapshot. */
  named(): readonly (readonly [name: string, template: string])[] {
    return this.getTable().named();
  }

  /** Every route as data, in the order of declaration: a snapshot. */
  descriptors(): readonly RouteDescriptor[] {
    return this.flatten().map(({ descriptor }) => descriptor);
  }

  /**
   * Returns a @koa/router with these routes, in order of specificity, and their middleware. The framework's responses to errors and its
   * rules for JSON are not part of it. The application may add routes to it. A second call returns the same router.
   */
  router(): RoutesRouter {
    this.koaRouter ??= new KoaRouter((target) => this.getInstance(target));
    return this.koaRouter.withRoutes(this.listServed());
  }

  /** The router, for a separate Koa application. */
  intoRouter(): RoutesRouter {
    return this.router();
  }

  /** The routers, of this collection and of the merged ones, to which the application has added routes. @internal */
  listRoutersWithAddedRoutes(): readonly Router[] {
    const own = this.koaRouter?.hasAddedRoutes === true ? [this.koaRouter.router] : [];
    return [...own, ...this.listCollections().flatMap((each) => each.listRoutersWithAddedRoutes())];
  }

  /** Whether there are such routers. The check is cheap, since every request without a route needs it. @internal */
  get hasAddedRoutes(): boolean {
    return this.koaRouter?.hasAddedRoutes === true || this.listCollections().some((each) => each.hasAddedRoutes);
  }

  /** The routes whose path is valid. @internal */
  listServed(): readonly Route[] {
    return this.getTable().served;
  }

  /** The diagnostics of these routes. @internal */
  diagnostics(): readonly Diagnostic[] {
    return diagnoseRoutes(this.getTable().routes);
  }

  /** The warnings of the tables of these routes. @internal */
  warnings(): readonly Warning[] {
    return this.members.flatMap((member) => (member instanceof Route ? [] : member.warnings()));
  }

  /** The routes that were merged after the middleware of their collection was given. @internal */
  listUncovered(): readonly RouteDescriptor[] {
    return this.members.flatMap((member, at) => {
      if (this.ownMiddleware.some(({ memberCount }) => at >= memberCount))
        return member.flatten().map(({ descriptor }) => descriptor);
      return member instanceof Routes ? member.listUncovered() : [];
    });
  }

  /** Fixes the routes: later changes throw `E_ROUTES_SEALED`. `getInstance` gives `router()` the middleware instances. @internal */
  seal(getInstance: GetInstance = this.getInstance): this {
    this.getInstance = getInstance;
    this.sealed ??= new RouteTable(this.flatten());
    return this;
  }

  /** Each route below its prefixes and with all middleware around it, in the order of declaration. @internal */
  flatten(prefix = "", outer: readonly MiddlewareInput[] = []): readonly Route[] {
    return this.members.flatMap((member, at) => {
      const own = this.ownMiddleware.filter(({ memberCount }) => at < memberCount).map(({ input }) => input);
      return member.flatten(prefix, [...outer, ...own]);
    });
  }

  private getTable(): RouteTable {
    return this.sealed ?? new RouteTable(this.flatten());
  }

  private listCollections(): readonly Routes[] {
    return this.members.filter((each) => each instanceof Routes);
  }

  private contains(other: Routes): boolean {
    return this === other || this.listCollections().some((each) => each.contains(other));
  }

  private refuseWhenSealed(): void {
    if (this.sealed === undefined) return;
    throw setupError(
      new FrameworkError("these routes are those of a built application: change them before build()", {
        code: "E_ROUTES_SEALED",
      }),
    );
  }
}

/** The routes of a collection at one moment. */
class RouteTable {
  readonly served: readonly Route[];
  private readonly templates: ReadonlyMap<string, string>;
  private readonly titles: ReadonlySet<string>;
  private readonly hasOptions: boolean;
  private index: RouteIndex | undefined;

  constructor(readonly routes: readonly Route[]) {
    this.served = Object.freeze(routes.filter(({ pathOrFault }) => pathOrFault instanceof Path));
    this.templates = listTemplatesByName(routes);
    this.hasOptions = routes.some(({ descriptor: { csrf, bearer } }) => csrf !== undefined || bearer === true);
    this.titles = new Set(routes.map(({ method, descriptor: { path } }) => `${method} ${joinPaths("", path)}`));
  }

  urlFor(name: string, params: readonly PathParameter[]): string {
    const template = this.templates.get(name);
    if (template !== undefined) return Path.of(template).fill(params);
    throw new NotFoundError(`no route is named "${name}"`, { code: "E_ROUTE_NAME" });
  }

  serves(endpoint: Endpoint): boolean {
    const path = getFullTemplate(endpoint);
    return this.titles.has(`${endpoint.method} ${path}`) || this.titles.has(`ANY ${path}`);
  }

  /** The first call builds the matcher: few applications ask, and only for a request that is about to be refused. */
  find(method: string, path: string): RouteDescriptor | undefined {
    const { matcher, descriptors } = (this.index ??= createIndex(this.served));
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

function createIndex(routes: readonly Route[]): RouteIndex {
  const bound = routes.map((each) => [new BoundRoute(each.method, each.path, () => {}), each.descriptor] as const);
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
