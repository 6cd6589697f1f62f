/** HTTP messages among the fields of a log call: Node's, Koa's and fetch's, over HTTP/1.1 and HTTP/2. */
import { once } from "node:events";
import http from "node:http";
import http2, { type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import Koa from "koa";
import { Application, Reply, Route, Routes, type Context } from "../../lib/entries/main.js";
import { tracing } from "../../lib/tracing/tracing.js";
import { CaptureSink, ConsoleLog, JsonLog } from "../../lib/entries/observe.js";
import { context } from "../../lib/testing/context.js";
import { testApp } from "../../lib/testing/test-app.js";
import { listening } from "../support/listening.js";

const SECRET = "canary4711";
const TARGET = `/links/7?q=${SECRET}`;
const HEADERS = { "X-Note": SECRET };
const ASKED = { method: "GET", path: "/links/7" };

const log = tracing.target("shop::links");

/** The field `value` of the one line that is logged for it. */
function logged(value: unknown, name = "value"): unknown {
  const sink = new CaptureSink();
  tracing.withSubscriber(tracing.registry().with(new JsonLog(sink)), () => log.info("m", { [name]: value }));
  return (JSON.parse(sink.transcript()) as { fields: Record<string, unknown> }).fields[name];
}

/** What `see` makes of one request to `server`. */
async function seenBy<T>(server: http.Server, see: (response: http.IncomingMessage) => T): Promise<T> {
  const { port } = await listening(server);
  const request = http.get({ port, path: TARGET, headers: HEADERS, agent: false });
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  const seen = see(response);
  response.resume();
  await once(response, "close");
  server.close();
  await once(server, "close");
  return seen;
}

describe("an HTTP message in a log call", () => {
  const places: readonly (readonly [name: string, pick: (ctx: Context) => unknown, shown: object])[] = [
    ["the context", (ctx) => ctx, { ...ASKED, status: 202 }],
    ["Koa's request", (ctx) => ctx.request, ASKED],
    ["Koa's response", (ctx) => ctx.response, { ...ASKED, status: 202 }],
    ["Node's request", (ctx) => ctx.req, ASKED],
    ["Node's response", (ctx) => ctx.res, { ...ASKED, status: 202 }],
    ["an object inside another", (ctx) => ({ deep: [ctx.req] }), { deep: [ASKED] }],
    ["what a toJSON answers", (ctx) => ({ toJSON: () => ctx.req }), ASKED],
    ["a reply", () => Reply.empty(204).header("X-Note", SECRET), { status: 204 }],
  ];
  for (const [name, pick, shown] of places) {
    it(`shows method, path and status of ${name}, of an application's request`, async () => {
      const handle = (ctx: Context) => {
        ctx.status = 202;
        ctx.set("X-Answer", SECRET);
        log.info("seen", { value: pick(ctx) });
        return "text";
      };
      await using app = await testApp(Application.create().routes(new Routes([Route.get("/links/{id}", handle)])));

      const response = await app.get(TARGET, { headers: HEADERS });

      expect(response.headers.get("x-answer")).to.equal(SECRET);
      expect(app.logs.transcript()).to.not.include(SECRET);
      const line = app.logs.lines().find((each) => each.includes('"seen"')) ?? "{}";
      expect(JSON.parse(line)).to.deep.nested.include({ "fields.value": shown });
    });
  }

  it("shows them of Koa's own objects", async () => {
    const koa = new Koa();
    let shown: unknown;
    koa.use((ctx) => {
      ctx.status = 204;
      shown = logged([ctx, ctx.request, ctx.response, ctx.req, ctx.res]);
    });

    const answer = koa.callback();
    await seenBy(
      http.createServer((request, response) => void answer(request, response)),
      () => {},
    );

    const answered = { ...ASKED, status: 204 };
    expect(shown).to.deep.equal([answered, ASKED, answered, ASKED, answered]);
  });

  it("shows them of both sides of a client's exchange", async () => {
    const server = http.createServer((_request, response) => response.writeHead(418, { "X-Note": SECRET }).end());

    // Node's types do not declare the request of a response.
    const shown = await seenBy(server, (response) => logged([response, (response as unknown as { req: object }).req]));

    expect(shown).to.deep.equal([{ ...ASKED, status: 418 }, ASKED]);
  });

  it("shows them of HTTP/2", async () => {
    const server = http2.createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const client = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const asked = once(server, "request");
    const stream = client.request({ ":path": TARGET, "x-note": SECRET });
    const [request, response] = (await asked) as [Http2ServerRequest, Http2ServerResponse];

    const shown = logged([request, response]);

    response.end();
    stream.resume();
    await once(stream, "close");
    client.close();
    server.close();
    expect(shown).to.deep.equal([ASKED, { ...ASKED, status: 200 }]);
  });

  it("shows them of fetch's objects", () => {
    const request = new Request(`https://shop.example${TARGET}`, { method: "PUT", headers: HEADERS });
    const response = new Response(SECRET, { status: 201, headers: HEADERS });

    expect(logged([request, response, request.headers])).to.deep.equal([
      { method: "PUT", path: "/links/7" },
      { status: 201 },
      {},
    ]);
  });

  it("shows them where it stands in place of the fields, and in the text of a debug build", () => {
    const { req } = context({ url: TARGET, headers: HEADERS });
    const sink = new CaptureSink();
    const registry = tracing.registry().with(new JsonLog(sink)).with(new ConsoleLog(sink));

    tracing.withSubscriber(registry, () => {
      // What a caller without a compiler may do.
      log.info("m", req as object as Record<string, unknown>);
      log.info("m", { req });
    });

    expect(JSON.parse(sink.lines()[0] ?? "")).to.deep.include({ fields: ASKED });
    expect(sink.lines()[3]).to.match(/ m req=\{"method":"GET","path":"\/links\/7"\}$/);
  });

  it("asks a context for nothing that hands out Node's objects", () => {
    const ctx = context({ url: TARGET });

    logged(ctx);

    expect([ctx.requestIsShared, ctx.isShared]).to.deep.equal([false, false]);
  });

  it("withholds what is named in alsoRedact", () => {
    const sink = new CaptureSink();
    const json = new JsonLog(sink).alsoRedact("path");

    tracing.withSubscriber(tracing.registry().with(json), () => log.info("m", { ctx: context({ url: TARGET }) }));

    expect(sink.transcript()).to.include('"path":"[redacted]"');
  });

  it("marks a message that cannot be read, and keeps the line", () => {
    class Hostile {
      readonly headers = HEADERS;
      readonly status = 200;
      get method(): string {
        throw new Error("no");
      }
    }
    const asking = new Proxy(new Hostile(), {
      has: () => {
        throw new Error("no");
      },
    });

    expect(logged([new Hostile(), asking])).to.deep.equal(["[unreadable]", "[unreadable]"]);
  });

  it("takes a plain object for what it holds, and so a class that has no head", () => {
    class Job {
      readonly method = "GET";
      readonly url = "/a?b";
    }

    expect(logged({ method: "GET", url: "/a?b", headers: { a: 1 } })).to.deep.equal({ headers: { a: 1 }, method: "GET", url: "/a?b" }); // prettier-ignore
    expect(logged(new Job())).to.deep.equal({ method: "GET", url: "/a?b" });
  });
});
