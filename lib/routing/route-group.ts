/**
 * Routes below one prefix that share middleware. Groups nest: their prefixes are joined, the outer group's middleware is outermost.
 * What a group puts around its routes reaches each of them and no sibling.
 *
 * @example
 * new RouteGroup("/admin", [Route.get("/", dashboard), Route.get("/users", users)]).middleware(SignedIn);
 */
import type { KoaMiddleware } from "../http/middleware.js";
import type { DraftRoute } from "./flat-route.js";
import { joinPaths } from "./join-paths.js";
import type { MiddlewareInput } from "./middleware-input.js";
import { pathText } from "./path-text.js";
import { Route } from "./route.js";
import { membersOf } from "./route-members.js";

export class RouteGroup {
  private readonly around: MiddlewareInput[] = [];
  private readonly prefix: string;
  private readonly members: readonly (Route | RouteGroup)[];

  /** Throws `E_ROUTE_PATH` for a prefix that is no text, `E_ROUTES_INVALID` for a member that is neither route nor group. */
  constructor(prefix: string, members: readonly (Route | RouteGroup)[]) {
    this.prefix = pathText(prefix, "a group");
    this.members = membersOf(members, isRouteOrGroup);
  }

  /** Puts middleware around each route of the group; the first is the outermost. It runs after the match, never on 404 or 405. */
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
    const joined = prefix === "" ? this.prefix : joinPaths(prefix, this.prefix);
    const drafts = this.members.flatMap((member) => member.drafts(joined));
    return drafts.map((draft) => ({ ...draft, middleware: [...this.around, ...draft.middleware] }));
  }
}

/** What collections and groups are made of. @internal */
export function isRouteOrGroup(candidate: unknown): boolean {
  return candidate instanceof Route || candidate instanceof RouteGroup;
}
