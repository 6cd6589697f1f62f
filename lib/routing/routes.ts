/**
 * A collection of routes and groups: what an application is given, and what it answers questions about its URLs with.
 *
 * Its middleware covers every route that is present at the time of the call; routes merged afterwards are not covered, which
 * `uncovered()` tells and the application warns of at start. A route added to `router()` by hand is served after the others.
 *
 * @example
 * const routes = new Routes([Route.get("/", home), new RouteGroup("/links", [Route.get("/{id}", show).name("links.show")])]);
 * routes.urlFor("links.show", [7]); // "/links/7"
 */
import type { Router } from "@koa/router";
import { NotFoundError, FrameworkError } from "../errors/framework-error.js";
import type { Diagnostic } from "../errors/diagnostic.js";
import {
  type DraftRoute,
  type FlatRoute,
  type Route,
  isRouteOrGroup,
  type RouteGroup,
  invalidRoutes,
  membersOf,
} from "./route.js";
import { Path, type PathParameter } from "./path.js";
import { findingsOf } from "./route-diagnostics.js";
import { nameOf } from "../di/token.js";
import type { KoaMiddleware } from "../http/middleware.js";
import type { RouteDescriptor } from "./handler.js";
import { KoaRouter } from "./koa-router.js";
import { constructing, type InstanceOf, type MiddlewareInput } from "./middleware.js";

/** All routes of a collection at one moment: those that can be served, their names, and what is wrong with them. */
export class RouteTable {
  readonly routes: readonly FlatRoute[];
  private readonly templates: ReadonlyMap<string, string>;

  constructor(private readonly drafts: readonly DraftRoute[]) {
    this.routes = Object.freeze(drafts.filter(isFlat).map((route) => Object.freeze(route)));
    this.templates = templatesOf(drafts);
  }

  get findings(): readonly Diagnostic[] {
    return findingsOf(this.drafts);
  }

  urlFor(name: string, params: readonly PathParameter[]): string {
    const template = this.templates.get(name);
    if (template !== undefined) return Path.of(template).fill(params);
    throw new NotFoundError(`no route is named "${name}"`, { code: "E_ROUTE_NAME" });
  }

  named(): readonly (readonly [string, string])[] {
    return [...this.templates].toSorted(([left], [right]) => (left < right ? -1 : 1));
  }
}

/** The first route of a name has it; a second one is a finding. */
function templatesOf(drafts: readonly DraftRoute[]): ReadonlyMap<string, string> {
  const templates = new Map<string, string>();
  for (const { descriptor } of drafts) {
    const { name, path } = descriptor;
    if (name !== undefined && !templates.has(name)) templates.set(name, path);
  }
  return templates;
}

function isFlat(draft: DraftRoute): draft is DraftRoute & FlatRoute {
  return draft.path instanceof Path;
}

/** Middleware, and how many of the members were there when it was given. */
interface Wrap {
  readonly input: MiddlewareInput;
  readonly reach: number;
}

export class Routes {
  private readonly members: (Route | RouteGroup | Routes)[];
  private readonly wraps: Wrap[] = [];
  private hand: KoaRouter | undefined;
  private sealed: RouteTable | undefined;
  private instanceOf: InstanceOf = constructing();

  /** Throws `E_ROUTES_INVALID` for a member that is neither route nor group. */
  constructor(members: readonly (Route | RouteGroup)[] = []) {
    this.members = membersOf(members, isRouteOrGroup);
  }

  static of(...members: readonly (Route | RouteGroup)[]): Routes {
    return new Routes(members);
  }

  /** Puts middleware around every route present now; the first is the outermost. It runs after the match, never on 404 or 405. */
  middleware(...middleware: readonly MiddlewareInput[]): this {
    this.refuseWhenSealed();
    for (const input of middleware) this.wraps.push({ input, reach: this.members.length });
    return this;
  }

  /** The same for a middleware written for Koa. */
  layer(...layers: readonly KoaMiddleware[]): this {
    return this.middleware(...layers);
  }

  /** Adds the routes of another collection, which keeps its own middleware. Throws `E_ROUTES_CYCLE` for one that contains this one. */
  merge(other: Routes): this {
    this.refuseWhenSealed();
    if (!(other instanceof Routes)) throw invalidRoutes(`${nameOf(other)} is no Routes`);
    if (other.contains(this)) {
      throw new FrameworkError("a collection of routes cannot be merged into itself", { code: "E_ROUTES_CYCLE" });
    }
    this.members.push(other);
    return this;
  }

  /**
   * The path of a named route, its parameters in the order of the template, each percent-encoded.
   * Throws `NotFoundError` with `E_ROUTE_NAME` for an undeclared name, `E_ROUTE_PARAM` for a parameter that does not fit.
   */
  urlFor(name: string, params: readonly PathParameter[] = []): string {
    return this.table().urlFor(name, params);
  }

  /** Every name with its template, in name order: a snapshot. */
  named(): readonly (readonly [name: string, template: string])[] {
    return this.table().named();
  }

  /** Every route as data, in the order of declaration: a snapshot. */
  descriptors(): readonly RouteDescriptor[] {
    return this.flattened().map(({ descriptor }) => descriptor);
  }

  /**
   * A @koa/router with these routes, in order of specificity, and their middleware. The framework's answers to errors and its rules
   * for JSON are not part of it. Routes may be added to it by hand; calling again gives the same router.
   */
  router(): Router {
    this.hand ??= new KoaRouter((made) => this.instanceOf(made));
    return this.hand.holding(this.served());
  }

  /** The router, for a Koa application of its own. */
  intoRouter(): Router {
    return this.router();
  }

  /** Routers, of this collection and of those merged into it, with routes that were added by hand. @internal */
  routersWithAddedRoutes(): readonly Router[] {
    const own = this.hand?.hasAddedRoutes === true ? [this.hand.router] : [];
    return [...own, ...this.collections().flatMap((each) => each.routersWithAddedRoutes())];
  }

  /** Whether `routersWithAddedRoutes` would find any; cheap enough to ask at a request that nothing else answers. @internal */
  get hasAddedRoutes(): boolean {
    return this.hand?.hasAddedRoutes === true || this.collections().some((each) => each.hasAddedRoutes);
  }

  /** The routes that can be served. @internal */
  served(): readonly FlatRoute[] {
    return this.table().routes;
  }

  /** What is wrong with these routes taken together. @internal */
  findings(): readonly Diagnostic[] {
    return this.table().findings;
  }

  /** Routes that were merged after the middleware of their collection was given. @internal */
  uncovered(): readonly RouteDescriptor[] {
    const nested = this.collections().flatMap((each) => each.uncovered());
    const late = this.members.filter((_, at) => this.wraps.some(({ reach }) => at >= reach));
    return [...new Set([...late.flatMap((each) => descriptorsOf(each)), ...nested])];
  }

  /**
   * Fixes what is there: from now on nothing can be added, and nothing is computed twice. `instanceOf` gives the instances of
   * middleware classes to `router()`. @internal
   */
  seal(instanceOf: InstanceOf = this.instanceOf): this {
    this.instanceOf = instanceOf;
    this.sealed ??= new RouteTable(this.flattened());
    return this;
  }

  /** @internal */
  flattened(prefix = ""): readonly DraftRoute[] {
    return this.members.flatMap((member, at) => {
      const around = this.wraps.filter(({ reach }) => at < reach).map(({ input }) => input);
      return member.flattened(prefix).map((draft) => ({ ...draft, middleware: [...around, ...draft.middleware] }));
    });
  }

  private table(): RouteTable {
    return this.sealed ?? new RouteTable(this.flattened());
  }

  private collections(): readonly Routes[] {
    return this.members.filter((each) => each instanceof Routes);
  }

  private contains(other: Routes): boolean {
    return this === other || this.collections().some((each) => each.contains(other));
  }

  private refuseWhenSealed(): void {
    if (this.sealed === undefined) return;
    throw new FrameworkError("these routes are those of a built application: change them before build()", {
      code: "E_ROUTES_SEALED",
    });
  }
}

function descriptorsOf(member: Route | RouteGroup | Routes): readonly RouteDescriptor[] {
  return member.flattened("").map(({ descriptor }) => descriptor);
}
