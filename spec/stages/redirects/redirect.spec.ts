import { expect } from "chai";
import * as fc from "fast-check";
import { BadRequestError } from "../../../lib/errors/framework-error.js";
import { Get, Post } from "../../../lib/endpoints/endpoint.js";
import { resolveLocation, type RedirectedRequest } from "../../../lib/stages/redirects/redirect-mapper.js";
import { isSafePath, toSafePath, findSafeReferer } from "../../../lib/http/request/safe-path.js";
import { redirect, getRedirectStatus } from "../../../lib/stages/redirects/redirect.js";
import { Route } from "../../../lib/routing/route.js";
import { Routes } from "../../../lib/routing/routes.js";
import { errorOf } from "../../support/error-of.js";

const routes = Routes.of(
  Route.get("/links/{id}", () => "").name("links.show"),
  Route.any("/photos/{id}", () => ""),
);
const request: RedirectedRequest = { method: "POST", referer: "", origins: ["http://site.example"] };

describe("redirect()", () => {
  it("leads to / by default", () => {
    expect(resolveLocation(redirect(), request, routes)).to.equal("/");
  });

  describe("to(path)", () => {
    const kept: readonly (readonly [path: string, location: string])[] = [
      ["/", "/"],
      ["/links?page=2#top", "/links?page=2#top"],
      ["/a//b", "/a//b"],
      ["/%2F%5c", "/%2F%5c"],
      ["/caf\u00e9?q=\u{1f600}", "/caf%C3%A9?q=%F0%9F%98%80"],
      ["/a b", "/a%20b"],
      ['/"<>', "/%22%3C%3E"],
      ["/\ud800", "/%EF%BF%BD"],
      ["/\u2028\u0085", "/%E2%80%A8%C2%85"],
      ["/@evil.example", "/@evil.example"],
    ];
    for (const [path, location] of kept) {
      it(`leads from ${JSON.stringify(path)} to ${location}`, () => {
        expect(resolveLocation(redirect().to(path), request, routes)).to.equal(location);
      });
    }

    const refused = [
      "",
      "links",
      "//evil.example",
      "///evil.example",
      "/\\evil.example",
      "\\/evil.example",
      "/a\\b",
      "/\t/evil.example",
      "/\n",
      "/a\r\nSet-Cookie: x=1",
      "/\0",
      "/\u007f",
      " /",
      "https://evil.example/",
      "javascript:alert(1)",
      "?x",
    ];
    for (const path of refused) {
      it(`refuses ${JSON.stringify(path)}`, () => {
        const error = errorOf(() => redirect().to(path));

        expect(error).to.be.instanceOf(BadRequestError).and.include({ code: "E_UNSAFE_REDIRECT", status: 400 });
        expect(errorOf(() => redirect().back(path))).to.include({ code: "E_UNSAFE_REDIRECT" });
      });
    }

    it("never leads to another site, and always fits into a header", () => {
      const part = fc.constantFrom(
        "/",
        "\\",
        "evil.example",
        "\t",
        "\n",
        ".",
        "..",
        "@",
        ":",
        "\u00e9",
        "%2f",
        "?",
        "#",
      );
      fc.assert(
        fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
          const target = parts.join("");
          fc.pre(isSafePath(target));

          const location = toSafePath(target);

          expect(new URL(location, "http://site.example").origin).to.equal("http://site.example");
          expect(location).to.match(/^[\x21-\x7e]+$/);
        }),
      );
    });
  });

  describe("back()", () => {
    const rows: readonly (readonly [referer: string, location: string])[] = [
      ["", "/links"],
      ["/form?x=1", "/form?x=1"],
      ["/form?x=1#y", "/form?x=1"],
      ["http://site.example/form?x=1#y", "/form?x=1"],
      ["http://site.example:80/form", "/form"],
      ["http://SITE.example/form", "/form"],
      ["http://site.example", "/"],
      ["http://user:secret@site.example/form", "/form"],
      ["https://site.example/form", "/links"],
      ["http://site.example:8080/form", "/links"],
      ["http://evil.example/form", "/links"],
      ["http://site.example.evil.example/", "/links"],
      ["http://site.example//evil.example", "/links"],
      ["http://site.example/\\evil.example", "/links"],
      ["//evil.example/", "/links"],
      ["/\\evil.example", "/links"],
      ["/a\tb", "/links"],
      ["http://site.example/a\tb", "/links"],
      ["about:blank", "/links"],
      ["data:text/html,x", "/links"],
      ["not a url", "/links"],
      ["form", "/links"],
    ];
    for (const [referer, location] of rows) {
      it(`leads from ${JSON.stringify(referer)} to ${location}`, () => {
        const back = redirect().back("/links");

        expect(resolveLocation(back, { ...request, referer }, routes)).to.equal(location);
      });
    }

    it("falls back to / by default", () => {
      expect(resolveLocation(redirect().back(), request, routes)).to.equal("/");
    });

    it("accepts several origins, none of them opaque", () => {
      const origins = ["https://app.example", "http://other.example", "null"];

      expect(findSafeReferer("https://app.example/x", origins)).to.equal("/x");
      expect(findSafeReferer("data:text/html,x", ["null"])).to.equal(undefined);
    });
  });

  describe("route()", () => {
    it("leads to an endpoint", () => {
      const show = Get("/photos/{id}");

      expect(resolveLocation(redirect().route(show, "a b"), request, routes)).to.equal("/photos/a%20b");
    });

    it("leads to a named route", () => {
      expect(resolveLocation(redirect().route("links.show", 7), request, routes)).to.equal("/links/7");
    });

    it("gives a 500 for an unknown name", () => {
      const target = redirect().route("links.shwo", 7);

      const error = errorOf(() => resolveLocation(target, request, routes));

      expect(error).to.include({ code: "E_ROUTE_NAME", status: 500, detail: 'no route is named "links.shwo"' });
    });

    it("gives a 500 for an endpoint that is not a route, of another method or of another path", () => {
      for (const [endpoint, title] of [
        [Post("/links/{id}"), "POST /links/{id}"],
        [Get("/elsewhere/{id}"), "GET /elsewhere/{id}"],
      ] as const) {
        const error = errorOf(() => resolveLocation(redirect().route(endpoint, 7), request, routes));

        const detail = `${title} is not a route of this application`;
        expect(error).to.include({ code: "E_ROUTE_NAME", status: 500, detail });
      }
    });

    it("gives a 500 for wrong parameters", () => {
      const byName = redirect().route("links.show");
      const byEndpoint = redirect().route(Get("/photos/{id}"), "..");

      expect(errorOf(() => resolveLocation(byName, request, routes))).to.include({
        code: "E_ROUTE_PARAM",
        status: 500,
      });
      expect(errorOf(() => resolveLocation(byEndpoint, request, routes))).to.include({ code: "E_ROUTE_PARAM" });
    });
  });

  it("carries texts for the next request, the last one per key", () => {
    const first = redirect().with("notice", "Saved.");
    const second = first.with("notice", "Saved again.").with("__proto__", "x").to("/links").permanent();

    expect([...first.left.data]).to.deep.equal([["notice", "Saved."]]);
    expect([...second.left.data]).to.deep.equal([
      ["notice", "Saved again."],
      ["__proto__", "x"],
    ]);
    expect(resolveLocation(second, request, routes)).to.equal("/links");
  });

  const statuses: readonly (readonly [method: string, temporary: number, permanent: number])[] = [
    ["GET", 302, 301],
    ["HEAD", 302, 301],
    ["POST", 303, 308],
    ["PUT", 303, 308],
    ["PATCH", 303, 308],
    ["DELETE", 303, 308],
    ["OPTIONS", 303, 308],
  ];
  for (const [method, temporary, permanent] of statuses) {
    it(`redirects ${method} with ${temporary}, permanently with ${permanent}`, () => {
      expect(getRedirectStatus(method, redirect().isPermanent)).to.equal(temporary);
      expect(getRedirectStatus(method, redirect().permanent().isPermanent)).to.equal(permanent);
    });
  }
});
