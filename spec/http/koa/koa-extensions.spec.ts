/** Middleware that extends Koa's request and response, or assigns their members, as npm packages do. */
import http from "node:http";
import { Application, Route, Routes, type Context } from "@stagecraft/framework";
import { testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import type Koa from "koa";
import { context } from "../../../lib/testing/context.js";
import { listening } from "../../support/listening.js";

interface Extended {
  query: unknown;
  names: (this: Koa.Request) => string;
  tag: (this: Koa.Response, value: string) => void;
}

/** As koa-qs and koa-body-parsers do it: an accessor in place of Koa's, and further methods. */
function extend(koa: Koa, separator = ";"): void {
  Object.defineProperty(koa.request, "query", {
    configurable: true,
    get(this: Koa.Request) {
      return this.querystring.split(separator);
    },
  });
  Object.assign(koa.request, {
    names(this: Koa.Request) {
      return Object.keys(this.req.headers).toSorted().join();
    },
  });
  Object.assign(koa.response, {
    tag(this: Koa.Response, value: string) {
      this.set("X-Tag", value);
    },
  });
}

const handler = (ctx: Context): unknown => {
  const request = ctx.request as unknown as Extended & Koa.Request;
  const response = ctx.response as unknown as Extended & Koa.Response;
  response.tag("added");
  return { query: ctx.query, same: request.query, names: request.names().includes("host") };
};

async function answerOf(when: "before" | "after", separator?: string) {
  const builder = Application.create().routes(new Routes([Route.get("/", handler)]));
  if (when === "before") extend(builder.koa, separator);
  const callback = builder.build().callback();
  if (when === "after") extend(builder.koa, separator);
  using server = await listening(http.createServer(callback));
  const response = await fetch(`${server.url}/?a;b,c`);
  return { tag: response.headers.get("x-tag"), body: (await response.json()) as unknown };
}

describe("koa.request and koa.response", () => {
  for (const when of ["before", "after"] as const) {
    it(`may be extended ${when} build()`, async () => {
      expect(await answerOf(when)).to.deep.equal({
        tag: "added",
        body: { query: ["a", "b,c"], same: ["a", "b,c"], names: true },
      });
    });
  }

  it("belong to one application only", async () => {
    const [one, other] = [await answerOf("before", ";"), await answerOf("before", ",")];

    expect(one.body).to.deep.include({ query: ["a", "b,c"] });
    expect(other.body).to.deep.include({ query: ["a;b", "c"] });
    expect(context({ url: "/?a=1" }).query).to.deep.equal({ a: "1" });
  });
});

describe("koa.context.onerror", () => {
  it("has no effect on the responses to errors, which is a warning at the start", async () => {
    const builder = Application.create().routes(new Routes([Route.get("/", (ctx) => ctx.throw(418))]));
    // As koa-onerror does it.
    Object.assign(builder.koa.context, {
      onerror(this: Koa.Context) {
        this.res.end("in its own form");
      },
    });
    await using app = await testApp(builder);

    expect((await app.get("/")).status).to.equal(418);

    expect(app.logs.transcript()).to.include("koa.context.onerror was replaced");
  });

  it("causes no warning where it is Koa's own", async () => {
    await using app = await testApp(Application.create().routes(new Routes([Route.get("/", handler)])));

    expect(app.logs.transcript()).not.to.include("onerror");
  });
});

describe("the members of ctx.request", () => {
  const assigned: readonly (readonly [string, unknown])[] = [
    ["res", { fake: true }],
    ["response", { fake: true }],
    ["ip", "192.0.2.7"],
    ["ips", ["192.0.2.7", "192.0.2.8"]],
    ["protocol", "https"],
    ["secure", true],
  ];
  for (const [name, value] of assigned) {
    it(`may be assigned: ${name}`, () => {
      const { request } = context();

      Reflect.set(request, name, value);

      expect(Reflect.get(request, name)).to.equal(value);
    });

    it(`may be assigned on an object that inherits them: ${name}`, () => {
      const inherits: object = Object.create(context().request);

      Reflect.set(inherits, name, value);

      expect(Reflect.get(inherits, name)).to.equal(value);
    });
  }

  it("are those of the context: ip, ips, protocol and secure", () => {
    const ctx = context();

    Object.assign(ctx.request, { ip: "192.0.2.7", ips: ["192.0.2.7"], protocol: "https" });

    expect([ctx.ip, ctx.ips, ctx.protocol, ctx.secure]).to.deep.equal(["192.0.2.7", ["192.0.2.7"], "https", true]);
    expect(context().ip).to.equal("127.0.0.1");
  });

  it("have the query's text as search, which is a function of the context", () => {
    const ctx = context({ url: "/a?b=1" });

    const before = ctx.request.search;
    ctx.request.search = "?c=2";

    expect([before, ctx.request.search, ctx.url]).to.deep.equal(["?b=1", "?c=2", "/a?c=2"]);
    expect(ctx.search()).to.deep.equal({ c: "2" });
  });
});

describe("the members of ctx.response", () => {
  for (const name of ["res", "request"]) {
    it(`may be assigned: ${name}`, () => {
      const { response } = context();
      const value = { fake: true };

      Reflect.set(response, name, value);

      expect(Reflect.get(response, name)).to.equal(value);
    });
  }
});
