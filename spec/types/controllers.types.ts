/** Compile-only: tables, resources, controllers, middleware and redirects that compile, and those that must not. */
import type { Context } from "../../lib/http/request/context.js";
import type { Next } from "../../lib/http/middleware.js";
import { Controller } from "../../lib/routing/controller.js";
import { Delete, Get, Post } from "../../lib/endpoints/endpoint.js";
import { routes } from "../../lib/endpoints/endpoint-table.js";
import { Middleware, middleware } from "../../lib/routing/middleware.js";
import { redirect } from "../../lib/stages/redirects/redirect.js";
import { prefix } from "../../lib/endpoints/prefix.js";
import { resource } from "../../lib/endpoints/resource.js";
import { Route } from "../../lib/routing/route.js";
import { RouteGroup } from "../../lib/routing/route-group.js";

// --- tables --------------------------------------------------------------------------------------------------------------

const links = routes("links", "/teams/{team}/links", { index: Get("/"), show: Get("{id}"), create: Post("") });

links.index.url("red");
links.show.url("red", 7);
// @ts-expect-error a parameter is missing
links.show.url("red");
// @ts-expect-error one parameter is surplus
links.index.url("red", 7);
// @ts-expect-error the table has no such entry
links.destroy.url("red", 7);
// @ts-expect-error entries of a table are endpoints
routes("links", "/links", { index: "/" });
// @ts-expect-error a table is read-only
links.index = links.show;

export const path: "/teams/{team}/links/{id}" = links.show.path;

@Controller(links)
export class LinksController {
  @links.index index() {}
  @links.show show({ params }: Context<"team" | "id">) {
    return params.team + params.id;
  }
  @links.create create({ params }: Context<"team">) {
    return params.team;
  }
}

@Controller(links)
export class WrongLinksController {
  // @ts-expect-error the prefix has {team}, and neither it nor the entry has {id}
  @links.index index({ params }: Context<"id">) {
    return params.id;
  }
  // @ts-expect-error {id} is not {slug}
  @links.show show({ params }: Context<"team" | "slug">) {
    return params.team + params.slug;
  }
}

// --- resources -----------------------------------------------------------------------------------------------------------

const photos = resource("photos", "/teams/{team}/photos", { only: ["index", "show", "destroy"], except: ["destroy"] });
const all = resource("all", "/all");

photos.show.url("red", 7);
all.edit.url(7);
all.update.url(7);
all.index.url();
// @ts-expect-error left out by "except"
photos.destroy.url("red", 7);
// @ts-expect-error left out by "only"
photos.edit.url("red", 7);
// @ts-expect-error a parameter is missing
photos.show.url("red");
// @ts-expect-error no action of a resource
resource("p", "/p", { only: ["list"] });
// @ts-expect-error no action of a resource
resource("p", "/p", { except: ["patch"] });

@Controller(photos)
export class Photos {
  index({ params }: Context<"team">) {
    return params.team;
  }
  show({ params }: Context<"team" | "id">) {
    return params.team + params.id;
  }
  /** The options leave this action out, so it is an ordinary method. */
  destroy({ params }: Context<"anything">) {
    return params.anything;
  }
}

// @ts-expect-error show() asks for {slug}, which /teams/{team}/photos/{id} lacks
@Controller(photos)
export class WrongPhotos {
  index() {}
  show({ params }: Context<"slug">) {
    return params.slug;
  }
}

// @ts-expect-error a handler takes one argument, the context
@Controller(photos)
export class TwoArguments {
  index() {}
  show(ctx: Context<"id">, id: string) {
    return ctx.params.id + id;
  }
}

// --- tables below a prefix -----------------------------------------------------------------------------------------------

const v1 = prefix("/v1/{account}", links);
const v1Photos = prefix("/v1/{account}", photos);

export const v1Path: "/v1/{account}/teams/{team}/photos/{id}" = v1Photos.show.path;
v1Photos.show.url("ada", "red", 7);
// @ts-expect-error the capture of the prefix is missing
v1Photos.show.url("red", 7);
// @ts-expect-error left out by "only"
v1Photos.edit.url("ada", "red", 7);
// @ts-expect-error a table of no endpoints has no entries
prefix("/v1", { index: 7 }).index.url();
// @ts-expect-error only an endpoint of QUERY handles POST too
Get("/a").orPost();

@Controller(photos, v1Photos)
export class BothPhotos {
  index({ params }: Context<"team">) {
    return params.team;
  }
  show({ params }: Context<"team" | "id">) {
    return params.team + params.id;
  }
}

// @ts-expect-error show() asks for {account}, which the first table lacks
@Controller(photos, v1Photos)
export class WrongFirst {
  index() {}
  show({ params }: Context<"account">) {
    return params.account;
  }
}

// @ts-expect-error show() asks for {account}, which the last table lacks
@Controller(v1Photos, v1, photos)
export class WrongLast {
  index() {}
  show({ params }: Context<"account">) {
    return params.account;
  }
}

// @ts-expect-error a prefix beside a table
@Controller(photos, "/v1")
export class TableAndPrefix {}

// --- prefixes ------------------------------------------------------------------------------------------------------------

@Controller("/teams")
export class Prefixed {
  @Get("/{team}/panel/{id}") panel({ params }: Context<"id">) {
    return params.id;
  }
  @Delete("/{team}/panel") open({ params }: Context<string>) {
    return params["team"];
  }
}

declare const computed: string;

@Controller(computed)
export class Computed {}

// @ts-expect-error a capture in the prefix would be missing from the URLs of the endpoints
@Controller("/teams/{team}")
export class Capturing {}

// @ts-expect-error neither a prefix nor a table
@Controller(7)
export class NoSource {}

// --- middleware ----------------------------------------------------------------------------------------------------------

class SignedIn implements Middleware {
  constructor(private readonly users: ReadonlySet<string>) {}
  handle(ctx: Context, next: Next) {
    return this.users.has(ctx.ip) ? next() : undefined;
  }
}
const Timed = middleware(async (ctx, next) => {
  await next();
  return ctx.path;
}, "Timed");
const koa = async (_ctx: { readonly path: string }, next: Next) => next();

@Controller()
@Middleware(SignedIn, Timed)
export class Guarded {
  @Get("/a") @Middleware(new SignedIn(new Set()), koa) a() {}
  // @ts-expect-error a class without handle() is not middleware
  @Get("/b") @Middleware(Guarded) b() {}
  // @ts-expect-error undefined is not middleware
  @Get("/c") @Middleware(undefined) c() {}
}

Route.get("/", () => "")
  .middleware(SignedIn, new Timed(), koa)
  .layer(koa);
new RouteGroup("/x", []).middleware(SignedIn).layer(koa);
// @ts-expect-error a layer is a function written for Koa
Route.get("/", () => "").layer(new Timed());

// --- redirects -----------------------------------------------------------------------------------------------------------

redirect().route(links.show, "red", 7).with("notice", "Saved.").permanent();
redirect().route("links.show", "red", 7);
redirect().back();
// @ts-expect-error a parameter is missing
redirect().route(links.show, "red");
// @ts-expect-error one parameter is surplus
redirect().route(all.index, 7);
// The compiler reports the missing argument at the call, instead of the endpoint as an invalid name.
// prettier-ignore
// @ts-expect-error a parameter is missing
redirect().route(
  links.show, "red");
// @ts-expect-error the value is a string
redirect().with("count", 7);
// @ts-expect-error a path is a string; route() takes an endpoint
redirect().to(links.index);
