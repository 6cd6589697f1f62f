import { expect } from "chai";
import { Get, Post, Put } from "../../lib/endpoints/endpoint.js";
import { routes } from "../../lib/endpoints/endpoint-table.js";

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

  it("returns URLs, with the parameters of its prefix first", () => {
    expect(links.show.url("red", 7)).to.equal("/teams/red/links/7");
    expect(links.index.url("red")).to.equal("/teams/red/links");
  });

  it("does not change the endpoints that it is given", () => {
    const show = Get("/{id}");

    routes("photos", "/photos", { show });

    expect([show.path, show.name]).to.deep.equal(["/{id}", undefined]);
  });
});
