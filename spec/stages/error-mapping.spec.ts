import { expect } from "chai";
import { CatchPanicLayer } from "../../lib/stages/catch-panic.js";
import { ErrorMapping } from "../../lib/stages/error-mapping.js";
import type { Context } from "../../lib/http/request/context.js";
import { Reply } from "../../lib/http/response/reply.js";
import { obeysLayerContract } from "../../lib/testing/contracts/obeys-layer-contract.js";
import { Stack } from "../support/stack.js";

async function answerOf(mapping: ErrorMapping, handler: (ctx: Context) => unknown, method = "GET") {
  const catching = new CatchPanicLayer((ctx, thrown) => mapping.respondWithMapper(ctx, thrown));
  await using stack = await Stack.of([catching, mapping], handler);
  return await stack.ask("/", { method });
}

function withStatus(status: number) {
  return (ctx: Context) => void (ctx.status = status);
}

function page(_error: unknown, ctx: Context): Reply | undefined {
  const { status } = ctx;
  return ctx.accepts("html") === "html" ? Reply.html(`<h1>${status}</h1>`, status) : undefined;
}

describe("ErrorMapping", () => {
  it("obeys the layer contract", () => obeysLayerContract(new ErrorMapping()));

  for (const [status, slug] of [
    [404, "urn:framework:problem:not-found"],
    [405, "urn:framework:problem:method-not-allowed"],
    [408, "urn:framework:problem:timeout"],
    [413, "urn:framework:problem:payload-too-large"],
    [500, "urn:framework:problem:internal"],
    [418, "about:blank"],
  ] as const) {
    it(`gives a bodiless ${status} the problem ${slug}`, async () => {
      const answer = await answerOf(new ErrorMapping(), withStatus(status));

      expect(answer.headers["content-type"]).to.equal("application/problem+json");
      expect(JSON.parse(answer.text)).to.include({ type: slug, status });
    });
  }

  it("gives HEAD the head of the problem", async () => {
    const get = await answerOf(new ErrorMapping(), withStatus(404));
    const head = await answerOf(new ErrorMapping(), withStatus(404), "HEAD");

    expect(head.headers["content-length"]).to.equal(get.headers["content-length"]);
    expect(head.text).to.equal("");
  });

  const untouched: readonly (readonly [string, (ctx: Context) => unknown])[] = [
    ["200 without a body", withStatus(200)],
    ["304", withStatus(304)],
    ["a 404 text", () => Reply.text("gone fishing", 404)],
    ["a 400 JSON", () => Reply.json({ mine: true }, 400)],
    ["a 500 page", () => Reply.html("<h1>oh</h1>", 500)],
    [
      "a bodiless error with a type of its own",
      (ctx) => {
        ctx.status = 404;
        ctx.set("Content-Type", "text/x-own");
      },
    ],
  ];
  for (const [what, handler] of untouched) {
    it(`does not change ${what}`, async () => {
      const answer = await answerOf(new ErrorMapping().redactErrors(true), handler);

      expect(answer.text).not.to.contain("urn:framework");
    });
  }

  it("retains the other headers of the response", async () => {
    const answer = await answerOf(new ErrorMapping(), (ctx) => {
      ctx.set({ Allow: "GET", "Retry-After": "7", "WWW-Authenticate": "Basic" });
      ctx.cookies.set("a", "1");
      ctx.status = 405;
    });

    expect(answer.headers).to.include({ allow: "GET", "retry-after": "7", "www-authenticate": "Basic" });
    expect(answer.headers["set-cookie"]).to.have.length(1);
  });

  describe("with redactErrors(true)", () => {
    for (const [what, reply] of [
      ["text", Reply.text("secret", 500)],
      ["JSON", Reply.json({ secret: 1 }, 502)],
      ["a problem", Reply.of('{"detail":"secret"}', "application/problem+json", 503)],
    ] as const) {
      it(`replaces ${what} of a server error by type, title and status alone`, async () => {
        const answer = await answerOf(new ErrorMapping().redactErrors(true), () => reply);

        expect(Object.keys(JSON.parse(answer.text) as object)).to.deep.equal(["type", "title", "status"]);
      });
    }

    it("redacts no body unless it is set", async () => {
      const answer = await answerOf(new ErrorMapping(), () => Reply.text("shown", 500));

      expect(answer.text).to.equal("shown");
    });
  });

  describe("with a mapper", () => {
    it("responds with the mapper's reply and retains the other headers", async () => {
      const answer = await answerOf(new ErrorMapping().using(page), (ctx) => {
        ctx.set("Allow", "GET");
        ctx.status = 405;
      });

      expect([answer.status, answer.text]).to.deep.equal([405, "<h1>405</h1>"]);
      expect(answer.headers).to.include({ "content-type": "text/html; charset=utf-8", allow: "GET" });
    });

    it("retains the status unless the reply has the status of an error", async () => {
      const soft = new ErrorMapping().using(() => Reply.html("<h1>Sorry</h1>"));
      const other = new ErrorMapping().using(() => Reply.text("gone", 410));

      const kept = await answerOf(soft, withStatus(404));
      const changed = await answerOf(other, withStatus(404));

      expect([kept.status, kept.text]).to.deep.equal([404, "<h1>Sorry</h1>"]);
      expect([changed.status, changed.text]).to.deep.equal([410, "gone"]);
    });

    it("calls the mapper for an unhandled error, with status 500", async () => {
      const answer = await answerOf(new ErrorMapping().using(page), () => {
        throw new Error("canary");
      });

      expect([answer.status, answer.text]).to.deep.equal([500, "<h1>500</h1>"]);
    });

    it("leaves the response to the other rules where the mapper returns undefined", async () => {
      const answer = await answerOf(
        new ErrorMapping().using(() => undefined),
        withStatus(404),
      );

      expect(answer.text).to.contain("urn:framework:problem:not-found");
    });

    it("skips a mapper that throws", async () => {
      const mapping = new ErrorMapping().using(() => {
        throw new Error("canary");
      });

      const answer = await answerOf(mapping, withStatus(404));

      expect(answer.status).to.equal(404);
      expect(answer.text).to.contain("urn:framework:problem:not-found").and.not.to.contain("canary");
    });
  });
});
