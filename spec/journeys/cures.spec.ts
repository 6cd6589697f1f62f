/** What a constructor or an option refuses outside of the start-up report says what to give in its place. */
import { expect } from "chai";
import { Application, type Context, Extension, ProxyAction, redirect, Route, Routes } from "@stagecraft/framework";
import { page } from "@stagecraft/framework/pages";
import { CsrfConfig, SessionConfig } from "@stagecraft/framework/session";
import { context, testApp } from "@stagecraft/framework/testing";
import { errorOf } from "../support/error-of.js";

const KEY = "5a".repeat(64);
const Tenant = new Extension<string>("tenant");

const thrown: readonly (readonly [message: string, make: () => unknown])[] = [
  ['cannot be the name of a header: use letters, digits and "-"', () => new CsrfConfig().header("a b")],
  ["is not a message: give a text, or false for none", () => new CsrfConfig().expiredMessage(1 as never)],
  ["without Secure: set secure to true, or sameSite to Lax", () => new CsrfConfig().dev().sameSite("None")],
  ["correct these or the name", () => new SessionConfig(KEY, { name: "__Host-id", path: "/shop" })],
  ['give one such as "links/show"', () => page("")],
  ["names by commas, so leave it out", () => page("links/show", { "a,b": 1 })],
  ["give both in one object", () => page("links/show", { a: [], "a.b": 1 })],
  ["put the middleware that does so before this code, or add its stage", () => Tenant.of(context())],
  ["no header of the framing", () => ProxyAction.continue({ Connection: "close" })],
  ["merge another one", () => mergedIntoItself(new Routes([]))],
];

function mergedIntoItself(routes: Routes): Routes {
  return routes.merge(routes);
}

describe("a message about a wrong value", () => {
  for (const [message, make] of thrown) {
    it(`names its cure: ${message}`, () => {
      expect(errorOf(make).message).to.contain(message);
    });
  }

  const handled: readonly (readonly [message: string, handler: (ctx: Context) => unknown])[] = [
    ["which is off: enable it with .redirectMapper(true)", () => redirect().route("links.index")],
    ["a function, which cannot be sent; return an object, an array or text", () => () => 1],
  ];
  for (const [message, handler] of handled) {
    it(`names its cure in the log: ${message}`, async () => {
      const builder = Application.create()
        .redirectMapper(false)
        .routes(new Routes([Route.get("/", handler)]));
      await using app = await testApp(builder);

      await app.get("/");

      expect(app.logs.lines().join("\n")).to.contain(message);
    });
  }
});
