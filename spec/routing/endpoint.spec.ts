import { expect } from "chai";
import { Any, Delete, Get, Head, Options, Patch, Post, Put } from "../../lib/routing/endpoint.js";
import { routes } from "../../lib/routing/endpoint-table.js";
import { resource } from "../../lib/routing/resource.js";
import { errorOf } from "../support/error-of.js";

describe("an endpoint", () => {
  it("knows its method, path, name and pages", () => {
    const { method, path, name, pages } = Get("/links/{id}", { name: "links.show", page: "a", pages: ["b"] });

    expect({ method, path, name, pages }).to.deep.equal({
      method: "GET",
      path: "/links/{id}",
      name: "links.show",
      pages: ["a", "b"],
    });
  });

  it("takes its name alone, or none", () => {
    expect(Get("/", "home").name).to.equal("home");
    expect(Get("/").name).to.equal(undefined);
    expect(Get("/", {}).pages).to.deep.equal([]);
  });

  it("has a constructor for every method", () => {
    const made = [Get("/"), Post("/"), Put("/"), Patch("/"), Delete("/"), Head("/"), Options("/"), Any("/")];

    expect(made.map(({ method }) => method)).to.deep.equal([
      "GET",
      "POST",
      "PUT",
      "PATCH",
      "DELETE",
      "HEAD",
      "OPTIONS",
      "ANY",
    ]);
  });

  it("makes its URL", () => {
    const show = Get("/teams/{team}/{*rest}");

    expect(show.url("red team", "a/b?")).to.equal("/teams/red%20team/a/b%3F");
    expect(errorOf(() => show.url("..", "x"))).to.include({ code: "E_ROUTE_PARAM" });
  });

  it("with a path that is none fails where a URL is made of it, not where it is declared", () => {
    const broken = Get("/links/");

    expect(errorOf(() => broken.url())).to.include({ code: "E_ROUTE_PATH" });
  });
});

describe("a table", () => {
  const links = routes("links", "/teams/{team}/links/", {
    index: Get("/", { page: "links/index" }),
    show: Get("{id}"),
    create: Post(""),
    legacy: Put("/old", "old.links"),
  });

  it("puts every entry below its prefix, under a dotted name", () => {
    const entries = Object.entries(links).map(([key, { method, path, name, pages }]) => [
      key,
      method,
      path,
      name,
      pages,
    ]);

    expect(entries).to.deep.equal([
      ["index", "GET", "/teams/{team}/links", "links.index", ["links/index"]],
      ["show", "GET", "/teams/{team}/links/{id}", "links.show", []],
      ["create", "POST", "/teams/{team}/links", "links.create", []],
      ["legacy", "PUT", "/teams/{team}/links/old", "old.links", []],
    ]);
  });

  it("makes URLs with the parameters of its prefix first", () => {
    expect(links.show.url("red", 7)).to.equal("/teams/red/links/7");
    expect(links.index.url("red")).to.equal("/teams/red/links");
  });

  it("leaves the endpoints it was made of as they were", () => {
    const show = Get("/{id}");

    routes("photos", "/photos", { show });

    expect([show.path, show.name]).to.deep.equal(["/{id}", undefined]);
  });
});

describe("a resource", () => {
  it("has the seven actions, in their order", () => {
    const photos = resource("photos", "/teams/{team}/photos");

    const actions = Object.entries(photos).map(([key, { method, path, name }]) => [key, method, path, name]);

    expect(actions).to.deep.equal([
      ["index", "GET", "/teams/{team}/photos", "photos.index"],
      ["create", "GET", "/teams/{team}/photos/new", "photos.create"],
      ["store", "POST", "/teams/{team}/photos", "photos.store"],
      ["show", "GET", "/teams/{team}/photos/{id}", "photos.show"],
      ["edit", "GET", "/teams/{team}/photos/{id}/edit", "photos.edit"],
      ["update", "PUT", "/teams/{team}/photos/{id}", "photos.update"],
      ["destroy", "DELETE", "/teams/{team}/photos/{id}", "photos.destroy"],
    ]);
    expect(photos.edit.url("red", 7)).to.equal("/teams/red/photos/7/edit");
  });

  const rows: readonly (readonly [title: string, table: object, actions: readonly string[]])[] = [
    ["only", resource("p", "/p", { only: ["destroy", "index", "show"] }), ["index", "show", "destroy"]],
    ["except", resource("p", "/p", { except: ["edit", "create"] }), ["index", "store", "show", "update", "destroy"]],
    ["both", resource("p", "/p", { only: ["index", "show"], except: ["show"] }), ["index"]],
    ["an empty only", resource("p", "/p", { only: [] }), []],
    ["an empty except", resource("p", "/p", { only: ["show"], except: [] }), ["show"]],
  ];
  for (const [title, table, actions] of rows) {
    it(`keeps with ${title}: ${actions.join(", ") || "nothing"}`, () => {
      expect(Object.keys(table)).to.deep.equal(actions);
    });
  }
});
