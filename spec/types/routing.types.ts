/** Compile-only: the types of a path, its URL and its handler agree, and what disagrees does not compile. */
import type { Context } from "../../lib/http/request/context.js";
import { Any, Get, Post, type Endpoint } from "../../lib/endpoints/endpoint.js";
import type { Join, Names, UrlArguments } from "../../lib/endpoints/path.js";
import { routes } from "../../lib/endpoints/endpoint-table.js";
import { resource } from "../../lib/endpoints/resource.js";
import { RouteGroup } from "../../lib/routing/route-group.js";
import { Route } from "../../lib/routing/route.js";

// --- types from the literal of a path ------------------------------------------------------------------------------------

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type Parameter = string | number | bigint | boolean;

export const read: readonly true[] = [
  true satisfies Same<Names<"/links">, never>,
  true satisfies Same<Names<"/teams/{team}/files/{*rest}">, "team" | "rest">,
  true satisfies Same<Names<string>, string>,
  true satisfies Same<UrlArguments<"/links">, []>,
  true satisfies Same<UrlArguments<"/{a}/{*b}">, [value: Parameter, value: Parameter]>,
  true satisfies Same<UrlArguments<string>, Parameter[]>,
  true satisfies Same<Join<"/admin/", "users">, "/admin/users">,
  true satisfies Same<Join<"/admin", "/users">, "/admin/users">,
  true satisfies Same<Join<"/admin/", "/">, "/admin">,
  true satisfies Same<Join<"/admin", "">, "/admin">,
  true satisfies Same<Join<"/", "/users">, "/users">,
  true satisfies Same<Join<"", "/">, "/">,
  true satisfies Same<Join<"/teams/{team}", "/{id}">, "/teams/{team}/{id}">,
];

// --- URLs ----------------------------------------------------------------------------------------------------------------

const show = Get("/teams/{team}/links/{id}", "links.show");
const index = Get("/links", { name: "links.index", page: "links/index", pages: ["links/empty"] });
const anyPath: string = "/a/{b}";
const dynamic = Post(anyPath);

show.url("red", 7);
show.url("red", 7n);
show.url(true, 7);
index.url();
dynamic.url("any", "number", "of", "them");
// @ts-expect-error a parameter is missing
show.url("red");
// @ts-expect-error one parameter is surplus
show.url("red", 7, 8);
// @ts-expect-error the path has no parameter
index.url("red");
// @ts-expect-error null is not a value of a parameter
show.url("red", null);
// @ts-expect-error an object is not a value of a parameter
show.url("red", { id: 7 });

export const endpoint: Endpoint<"/links"> = index;
export const ofAnyPath: readonly Endpoint[] = [index, show, dynamic];
// @ts-expect-error an endpoint of another path
export const other: Endpoint<"/other"> = index;

// --- decorated handlers --------------------------------------------------------------------------------------------------

export class Misplaced {
  // @ts-expect-error a getter is no handler
  @index get page() {
    return "";
  }
  // @ts-expect-error a field is no handler
  @index text = "";
}

// @ts-expect-error a class is no handler
@index
export class Undecorated {}

export class Fine {
  @index list() {}
  @index withContext(ctx: Context) {
    return ctx.path;
  }
  @show all({ params }: Context<"team" | "id">) {
    return params.team + params.id;
  }
  @show fewer({ params }: Context<"id">) {
    return params.id;
  }
  @show async later({ params }: Context<"team">) {
    return Promise.resolve(params.team);
  }
  // It names no parameter that the path could lack, so every parameter that it reads may be missing.
  @show open({ params }: Context<string>) {
    const value: string | undefined = params["anything"];
    // @ts-expect-error the parameter may be missing
    const text: string = params["anything"];
    return [value, text];
  }
  @index openWithoutCaptures({ params }: Context<string>) {
    return params["team"] ?? "of no team";
  }
  @Get("/files/{*rest}", "files") file({ params }: Context<"rest">) {
    return params.rest;
  }
  @Any("/hook/{name}") hook({ params }: Context<"name">) {
    return params.name;
  }
  @dynamic unknown({ params }: Context<"b">) {
    return params.b;
  }
}

export class Wrong {
  // @ts-expect-error the path has no {id}
  @index absent({ params }: Context<"id">) {
    return params.id;
  }
  // @ts-expect-error {y} is not {x}
  @Get("/z/{y}") misnamed({ params }: Context<"x">) {
    return params.x;
  }
  // @ts-expect-error one of the two is missing
  @show half({ params }: Context<"id" | "slug">) {
    return params.id + params.slug;
  }
  // @ts-expect-error a handler takes one argument, the context
  @show two(ctx: Context<"id">, id: string) {
    return ctx.params.id + id;
  }
  // @ts-expect-error a handler does not take a text
  @show text(id: string) {
    return id;
  }
  // @ts-expect-error only methods handle requests
  @show field = "value";
  @show params({ params }: Context<"id">) {
    // @ts-expect-error the context has only the parameters that the handler asks for
    return params.team;
  }
}

// --- the builder ---------------------------------------------------------------------------------------------------------

Route.get("/links/{id}", ({ params }) => params.id).name("links.show");
Route.get("/links/{id}", ({ params }: Context<"id">) => params.id);
Route.get("/links/{id}", (ctx: Context) => ctx.path);
Route.any("/links", () => "text");
Route.put("/teams/{id}", ({ params }: Context<string>) => params["team"]);
// @ts-expect-error the path has no {slug}
Route.get("/links/{id}", ({ params }: Context<"slug">) => params.slug);
// @ts-expect-error the path has no parameter
Route.post("/links", ({ params }) => params.id);

// --- handlers of endpoints -----------------------------------------------------------------------------------------------

const table = routes("links", "/teams/{team}/links", { index: Get("/"), show: Get("/{id}") });
const photos = resource("photos", "/photos", { only: ["index", "show"] });
const list = (): string => "";

Route.of(show, ({ params }) => params.team + params.id);
Route.of(show, ({ params }: Context<"id">) => params.id);
Route.of(index, list);
Route.of(dynamic, ({ params }) => params["b"]);
// @ts-expect-error the path has no {slug}
Route.of(show, ({ params }: Context<"slug">) => params.slug);
// @ts-expect-error the path has no {slug}
Route.of(show, ({ params }) => params.slug);
RouteGroup.of(table, { index: ({ params }) => params.team, show: ({ params }) => params.team + params.id });
RouteGroup.of(table, { index: list, show: Route.of(table.show, list) });
RouteGroup.of(photos, { index: list, show: ({ params }) => params.id });
// @ts-expect-error an entry has no handler
RouteGroup.of(table, { index: list });
// @ts-expect-error the table has no such entry
RouteGroup.of(table, { index: list, show: list, create: list });
// @ts-expect-error the path has no {id}
RouteGroup.of(table, { index: ({ params }: Context<"id">) => params.id, show: list });
// @ts-expect-error the action has no {slug}
RouteGroup.of(photos, { index: list, show: ({ params }) => params.slug });
