import { expect } from "chai";
import type { Context } from "../../lib/kernel/context.js";
import { Layer, type Run } from "../../lib/kernel/middleware.js";
import { Stack } from "../support/stack.js";

/** A stage that promises a header on every answer. */
class Promising extends Layer {
  override wrap(inner: Run): Run {
    return (ctx) => {
      ctx.completeHeadWith({ complete: (_exchange, head) => head.floor(["X-Promised", "yes"]) });
      return inner(ctx);
    };
  }
}

const WAYS: readonly (readonly [string, (ctx: Context) => unknown])[] = [
  ["a returned text", () => "text"],
  ["ctx.body", (ctx) => void (ctx.body = "text")],
  ["ctx.response.body", (ctx) => void (ctx.response.body = "text")],
  ["ctx.res.end", (ctx) => void ctx.res.end("text")],
  ["ctx.res.writeHead with an object", (ctx) => void ctx.res.writeHead(200, { "x-a": "1" }).end("text")],
  ["ctx.res.writeHead with a list", (ctx) => void ctx.res.writeHead(200, ["x-a", "1"]).end("text")],
  ["ctx.res.writeHead with a reason", (ctx) => void ctx.res.writeHead(200, "Fine", { "x-a": "1" }).end("text")],
  ["ctx.response.res.end", (ctx) => void ctx.response.res.end("text")],
  [
    "ctx.flushHeaders",
    (ctx) => {
      ctx.flushHeaders();
      ctx.res.end("text");
    },
  ],
  [
    "ctx.respond = false",
    (ctx) => {
      ctx.respond = false;
      setTimeout(() => ctx.res.end("text"), 5);
    },
  ],
];

describe("a header promised on every answer", () => {
  for (const [what, handler] of WAYS) {
    it(`is on an answer by ${what}`, async () => {
      await using stack = await Stack.of([new Promising()], handler);

      const answer = await stack.ask();

      expect(answer.headers["x-promised"]).to.equal("yes");
      expect(answer.text).to.equal("text");
    });
  }
});

async function replace(ctx: Context, next: () => Promise<void>): Promise<void> {
  await next();
  ctx.body = `${String(ctx.body)}, and more`;
}

describe("Koa's accessors", () => {
  it("show type and length of a body that was returned further in", async () => {
    const seen: unknown[] = [];
    const look = async (ctx: Context, next: () => Promise<void>) => {
      await next();
      seen.push(ctx.type, ctx.length, ctx.response.get("content-type"), ctx.response.headers["content-length"]);
    };
    await using stack = await Stack.of([{ handle: look }], (ctx) => ctx.set("X-A", "1") ?? "héllo");
    await stack.ask();

    expect(seen).to.deep.equal(["text/plain", 6, "text/plain; charset=utf-8", 6]);
  });

  it("let an outer middleware put another body in place, with its own length", async () => {
    await using stack = await Stack.of([{ handle: replace }], () => "text");

    const answer = await stack.ask();

    expect(answer.text).to.equal("text, and more");
    expect(answer.headers["content-length"]).to.equal("14");
  });

  it("answer about the request", async () => {
    await using stack = await Stack.of([], (ctx) => ({
      query: ctx.query,
      host: ctx.host,
      accepts: ctx.accepts("json", "html"),
      header: ctx.get("X-Thing"),
      is: ctx.is("json"),
      fresh: ctx.fresh,
      href: ctx.href,
      referrer: ctx.get("Referrer"),
    }));

    const answer = await stack.ask("/a?x=1", {
      headers: { "x-thing": "t", accept: "text/html", referer: "/r", host: "h" },
    });

    expect(JSON.parse(answer.text)).to.deep.equal({
      query: { x: "1" },
      host: "h",
      accepts: "html",
      header: "t",
      is: null,
      fresh: false,
      href: "http://h/a?x=1",
      referrer: "/r",
    });
  });

  it("redirect, attach and set cookies, secure ones too", async () => {
    await using redirecting = await Stack.of([], (ctx) => ctx.redirect("https://example.com/ü"));
    await using other = await Stack.of([], (ctx) => {
      ctx.attachment("a.csv");
      ctx.cookies.set("id", "1", { secure: true });
      ctx.vary("Accept");
      ctx.append("Link", "<a>");
      ctx.append("Link", "<b>");
      return "a,b";
    });

    const away = await redirecting.ask();
    const answer = await other.ask();

    expect([away.status, away.headers.location]).to.deep.equal([302, "https://example.com/%C3%BC"]);
    expect(answer.headers["content-type"]).to.equal("text/csv; charset=utf-8");
    expect(answer.headers["content-disposition"]).to.equal('attachment; filename="a.csv"');
    expect(answer.headers["set-cookie"]?.[0]).to.match(/^id=1; path=\/; secure; httponly$/);
    expect(answer.headers.vary).to.equal("Accept");
    expect(answer.headers["link"]).to.equal("<a>, <b>");
  });
});
