import { Readable } from "node:stream";
import { expect } from "chai";
import { z } from "zod";
import { Clock, MalformedJsonError, type Context } from "../../lib/entries/main.js";
import { context } from "../../lib/testing/context.js";
import { FakeClock } from "../../lib/testing/fake-clock.js";
import { rejectionOf } from "../support/rejection-of.js";

describe("context", () => {
  it("is a GET of / from 127.0.0.1 by default", () => {
    const ctx = context();

    expect([ctx.method, ctx.url, ctx.path, ctx.ip, ctx.status]).to.deep.equal(["GET", "/", "/", "127.0.0.1", 404]);
    expect(ctx.host).to.equal("localhost");
    expect(ctx.params).to.deep.equal({ __proto__: null });
  });

  it("has the given method, target, headers and params", () => {
    const headers = { "X-One": "1", "X-Two": ["2", "3"], Cookie: "a=1; b=2" };

    const ctx = context({ method: "PUT", url: "/links/7?full=1", headers, params: { id: "7" } });

    expect([ctx.method, ctx.path, ctx.querystring]).to.deep.equal(["PUT", "/links/7", "full=1"]);
    expect([ctx.get("x-one"), ctx.get("x-two"), ctx.cookies.get("b")]).to.deep.equal(["1", "2, 3", "2"]);
    expect(ctx.req.headersDistinct["x-two"]).to.deep.equal(["2", "3"]);
    expect(ctx.params.id).to.equal("7");
    expect(ctx.search()).to.deep.equal({ __proto__: null, full: "1" });
  });

  const bodies: readonly (readonly [
    string,
    Parameters<typeof context>[0],
    (ctx: Context) => Promise<unknown>,
    unknown,
  ])[] = [
    ["JSON", { json: { a: [1] } }, (ctx) => ctx.json(), { a: [1] }],
    ["JSON with a schema", { json: { a: 1 } }, (ctx) => ctx.json(z.object({ a: z.number() })), { a: 1 }],
    [
      "a form",
      { form: { a: "1 2", b: ["3", "4"] } },
      (ctx) => ctx.form(),
      { __proto__: null, a: "1 2", b: ["3", "4"] },
    ],
    ["text", { body: "grüße" }, (ctx) => ctx.text(), "grüße"],
    ["bytes", { body: new Uint8Array([104, 105]) }, (ctx) => ctx.text(), "hi"],
    ["a stream", { body: Readable.from(["h", "i"]) }, (ctx) => ctx.text(), "hi"],
    ["a Blob", { body: new Blob(["hi"]) }, (ctx) => ctx.text(), "hi"],
    ["no body", {}, (ctx) => ctx.text(), ""],
  ];
  for (const [name, options, read, expected] of bodies) {
    it(`reads ${name} as a body, twice`, async () => {
      const ctx = context({ method: "POST", ...options });

      const values = [await read(ctx), await read(ctx)];

      expect(values).to.deep.equal([expected, expected]);
    });
  }

  it("reports the error of a malformed body", async () => {
    const ctx = context({ method: "POST", body: "{", headers: { "Content-Type": "application/json" } });

    expect(await rejectionOf(ctx.json())).to.be.instanceOf(MalformedJsonError);
  });

  it("refuses two bodies at once", () => {
    expect(() => context({ json: 1, body: "2" })).to.throw(TypeError, "one body");
  });

  it("shows the response of a Koa middleware", () => {
    const ctx = context();

    ctx.status = 201;
    ctx.body = { made: true };
    ctx.set("X-Made", "yes");
    ctx.cookies.set("seen", "1");

    expect([ctx.status, ctx.body, ctx.response.get("x-made")]).to.deep.equal([201, { made: true }, "yes"]);
    expect(ctx.response.get("set-cookie")).to.deep.equal(["seen=1; path=/; httponly"]);
  });

  it("takes the client address from a trusted proxy", () => {
    const headers = { "X-Forwarded-For": "192.0.2.7" };

    expect(context({ ip: "10.0.0.1", headers }).ip).to.equal("10.0.0.1");
    expect(context({ ip: "10.0.0.1", headers, trustedProxies: "10.0.0.0/8" }).ip).to.equal("192.0.2.7");
  });

  it("uses the given clock", () => {
    const clock: Clock = new FakeClock();

    expect(context({ clock }).clock).to.equal(clock);
  });
});
