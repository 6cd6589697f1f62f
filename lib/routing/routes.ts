/**
 * A collection of routes and groups. An application is given collections, and the collection of the application returns URLs for the names
 * of routes.
 *
 * Its middleware covers every route that is present at the call. A route that is merged later is not covered, and the application logs a
 * warning at start. @koa/router has the table of the routes; a route that is added to `router()` runs after all routes of the collection.
 *
 * @example
 * const routes = new Routes([Route.get("/", home), new RouteGroup("/links", [Route.get("/{id}", show).name("links.show")])]);
 * routes.urlFor("links.show", [7]); // "/links/7"
 */
import type { Router } from "@koa/router";
import { describeToken } from "../di/token.js";
import { refuseForeignCopy } from "../errors/copy.js";
import { markKind } from "../errors/copy-mark.js";
import type { Diagnostic, Warning } from "../errors/diagnostic.js";
import { NotFoundError } from "../errors/framework-error.js";
import type { KoaMiddleware } from "../http/middleware.js";
import { createRoutesError, mount, formatRoute, type AnyEndpoint } from "../endpoints/endpoint.js";
import type { RouteOptions } from "../endpoints/route-options.js";
import { createInstanceCache, type MiddlewareInput } from "./middleware.js";
import { joinPaths } from "../endpoints/filled-path.js";
import type { PathParameter } from "../endpoints/path.js";
import { diagnoseRoutes } from "./route-diagnostics.js";
import { checkMembers, RouteGroup } from "./route-group.js";
import { RouteTable, type TableRow } from "./route-table.js";
import { Route, type RouteDescriptor } from "./route.js";
import { createSetupError } from "../errors/setup-error.js";

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
  private readonly table = new RouteTable();
  private readonly getInstance = createInstanceCache();
  private isSealed = false;

  static {
    markKind(this.prototype, "collection of routes");
  }

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
    refuseForeignCopy(other);
    if (!(other instanceof Routes)) throw createRoutesError(`${describeToken(other)} is not a Routes`);
    if (other.contains(this)) {
      throw createSetupError(
        "E_ROUTES_CYCLE",
        "a collection of routes cannot be merged into itself: merge another one",
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
  requireRoute(endpoint: AnyEndpoint): void {
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
   * Returns the @koa/router that has the table of these routes, in order of specificity, with their middleware. The framework's responses
   * to errors and its rules for JSON are not part of it. The application may add routes to it. A second call returns the same router.
   */
  router(): RoutesRouter {
    return this.getTable().router;
  }

  /** The router, for a separate Koa application. */
  intoRouter(): RoutesRouter {
    return this.router();
  }

  /** The routers, of this collection and of the merged ones, to which the application has added routes. @internal */
  listRoutersWithAddedRoutes(): readonly Router[] {
    const own = this.table.hasAddedRoutes ? [this.table.router] : [];
    return [...own, ...this.listCollections().flatMap((each) => each.listRoutersWithAddedRoutes())];
  }

  /** Whether there are such routers. The check is cheap, since every request without a route needs it. @internal */
  get hasAddedRoutes(): boolean {
    return this.table.hasAddedRoutes || this.listCollections().some((each) => each.hasAddedRoutes);
  }

  /** The rows of the table. @internal */
  listRows(): readonly TableRow[] {
    return this.getTable().rows;
  }

  /** The diagnostics of these routes. @internal */
  diagnostics(): readonly Diagnostic[] {
    return diagnoseRoutes(this.flatten());
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

  /** Fixes the routes, and fills a router that exists with them: later changes throw `E_ROUTES_SEALED`. @internal */
  seal(rows: readonly TableRow[] = this.createRows()): this {
    this.table.fill(rows);
    this.table.fillRouter();
    this.isSealed = true;
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
    if (!this.isSealed) this.table.fill(this.createRows());
    return this.table;
  }

  private createRows(): readonly TableRow[] {
    return this.flatten().map((route) => ({ route, getInstance: this.getInstance }));
  }

  private listCollections(): readonly Routes[] {
    return this.members.filter((each) => each instanceof Routes);
  }

  private contains(other: Routes): boolean {
    return this === other || this.listCollections().some((each) => each.contains(other));
  }

  private refuseWhenSealed(): void {
    if (!this.isSealed) return;
    throw createSetupError(
      "E_ROUTES_SEALED",
      "these routes are those of a built application: change them before build()",
    );
  }
}
