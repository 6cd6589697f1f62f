import { expect } from "chai";
import type { Context } from "../../../lib/http/request/context.js";
import { Get } from "../../../lib/endpoints/endpoint.js";
import { redirect, type Redirect } from "../../../lib/stages/redirects/redirect.js";
import { RedirectMapperLayer } from "../../../lib/stages/redirects/redirect-mapper.js";
import { Route } from "../../../lib/routing/route.js";
import { Routes } from "../../../lib/routing/routes.js";
import { obeysLayerContract } from "../../../lib/testing/contracts/obeys-layer-contract.js";
import { Stack, type AskOptions } from "../../support/stack.js";

const show = Get("/links/{id}", "links.show");
const routes = new Routes([Route.get("/links/{id}", () => "x").name("links.show")]);
const mapper = new RedirectMapperLayer({ routes, origin: "https://shop.example" });

async function answerOf(result: (ctx: Context) => Redirect, asking: AskOptions = {}) {
  await using stack = await Stack.of([mapper], result);
  return await stack.ask("/from", { ...asking, headers: { host: "here.example", ...asking.headers } });
}

const LOCATIONS: readonly (readonly [string, () => Redirect, AskOptions, number, string])[] = [
  ["no target", () => redirect(), {}, 302, "/"],
  ["a path", () => redirect().to("/a?b=c#d"), {}, 302, "/a?b=c#d"],
  ["a path after POST", () => redirect().to("/a"), { method: "POST" }, 303, "/a"],
  ["a permanent one", () => redirect().to("/a").permanent(), {}, 301, "/a"],
  ["a permanent one after PUT", () => redirect().to("/a").permanent(), { method: "PUT" }, 308, "/a"],
  ["a name", () => redirect().route("links.show", "a b"), {}, 302, "/links/a%20b"],
  ["an endpoint", () => redirect().route(show, 7), {}, 302, "/links/7"],
  ["back, to this host", () => redirect().back(), { headers: { referer: "http://here.example/p?q#f" } }, 302, "/p?q"],
  [
    "back, to the configured site",
    () => redirect().back(),
    { headers: { referer: "https://shop.example/p" } },
    302,
    "/p",
  ],
  ["back, to a path", () => redirect().back(), { headers: { referer: "/p" } }, 302, "/p"],
  [
    "back, from another site",
    () => redirect().back("/f"),
    { headers: { referer: "https://evil.example/p" } },
    302,
    "/f",
  ],
  ["back, without a Referer", () => redirect().back(), {}, 302, "/"],
];

describe("RedirectMapperLayer", () => {
  it("obeys the layer contract", () => obeysLayerContract(mapper));

  for (const [what, result, asking, status, location] of LOCATIONS) {
    it(`redirects ${what} with ${status} to ${location}`, async () => {
      const answer = await answerOf(result, asking);

      expect([answer.status, answer.headers.location]).to.deep.equal([status, location]);
      expect(answer.headers).not.to.have.property("content-type");
      expect(answer.text).to.equal("");
    });
  }

  it("responds with 500, not 404, when the route cannot be resolved", async () => {
    const unknown = await answerOf(() => redirect().route("nowhere"));
    const misfit = await answerOf(() => redirect().route("links.show"));

    expect([unknown.status, misfit.status]).to.deep.equal([500, 500]);
  });

  it("retains headers that the handler set", async () => {
    const answer = await answerOf((ctx) => {
      ctx.set("X-A", "1");
      return redirect();
    });

    expect(answer.headers["x-a"]).to.equal("1");
  });

  it("redirects even if there is no session for the data", async () => {
    const answer = await answerOf(() => redirect().to("/a").with("notice", "Saved."));

    expect(answer.headers.location).to.equal("/a");
  });
});
