import { expect } from "chai";
import { Any, Delete, Get, Head, Options, Patch, Post, Put } from "../../lib/endpoints/endpoint.js";
import { errorOf } from "../support/error-of.js";

describe("an endpoint", () => {
  it("has a method, a path, a name and pages", () => {
    const { method, path, name, pages } = Get("/links/{id}", { name: "links.show", page: "a", pages: ["b"] });

    expect({ method, path, name, pages }).to.deep.equal({
      method: "GET",
      path: "/links/{id}",
      name: "links.show",
      pages: ["a", "b"],
    });
  });

  it("accepts a name in place of options, and no options", () => {
    expect(Get("/", "home").name).to.equal("home");
    expect(Get("/").name).to.equal(undefined);
    expect(Get("/", {}).pages).to.deep.equal([]);
  });

  it("has a constructor for every HTTP method", () => {
    const endpoints = [Get("/"), Post("/"), Put("/"), Patch("/"), Delete("/"), Head("/"), Options("/"), Any("/")];

    expect(endpoints.map(({ method }) => method)).to.deep.equal([
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

  it("returns its URL", () => {
    const show = Get("/teams/{team}/{*rest}");

    expect(show.url("red team", "a/b?")).to.equal("/teams/red%20team/a/b%3F");
    expect(errorOf(() => show.url("..", "x"))).to.include({ code: "E_ROUTE_PARAM" });
  });

  it("with an invalid path fails when its URL is asked for, not when it is declared", () => {
    const broken = Get("/links/");

    expect(errorOf(() => broken.url())).to.include({ code: "E_ROUTE_PATH" });
  });
});
