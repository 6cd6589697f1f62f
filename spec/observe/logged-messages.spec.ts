/** HTTP messages as fields of an event: Node's, Koa's and fetch's, over HTTP/1.1 and HTTP/2. */
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

/** The field as the log line shows it. */
function logged(value: unknown, name = "value"): unknown {
  const sink = new CaptureSink();
  tracing.withSubscriber(tracing.registry().with(new JsonLog(sink)), () => log.info("m", { [name]: value }));
  return (JSON.parse(sink.transcript()) as { fields: Record<string, unknown> }).fields[name];
}

/** Sends one request to `server` and returns the result of `see`. */
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

describe("an HTTP message in an event", () => {
  const places: readonly (readonly [name: string, pick: (ctx: Context) => unknown, shown: object])[] = [
    ["the context", (ctx) => ctx, { ...ASKED, status: 202 }],
    ["Koa's request", (ctx) => ctx.request, ASKED],
    ["Koa's response", (ctx) => ctx.response, { ...ASKED, status: 202 }],
    ["Node's request", (ctx) => ctx.req, ASKED],
    ["Node's response", (ctx) => ctx.res, { ...ASKED, status: 202 }],
    ["an object inside another", (ctx) => ({ deep: [ctx.req] }), { deep: [ASKED] }],
    ["the result of a toJSON", (ctx) => ({ toJSON: () => ctx.req }), ASKED],
    ["a reply", () => Reply.empty(204).header("X-Note", SECRET), { status: 204 }],
  ];
  for (const [name, pick, shown] of places) {
    it(`is shown as method, path and status: ${name}`, async () => {
      const handle = (ctx: Context) => {
        ctx.status = 202;
        ctx.set("X-Response", SECRET);
        log.info("seen", { value: pick(ctx) });
        return "text";
      };
      await using app = await testApp(Application.create().routes(new Routes([Route.get("/links/{id}", handle)])));

      const response = await app.get(TARGET, { headers: HEADERS });

      expect(response.headers.get("x-response")).to.equal(SECRET);
      expect(app.logs.transcript()).to.not.include(SECRET);
      const line = app.logs.lines().find((each) => each.includes('"seen"')) ?? "{}";
      expect(JSON.parse(line)).to.deep.nested.include({ "fields.value": shown });
    });
  }

  it("is shown as method, path and status for Koa's objects", async () => {
    const koa = new Koa();
    let shown: unknown;
    koa.use((ctx) => {
      ctx.status = 204;
      shown = logged([ctx, ctx.request, ctx.response, ctx.req, ctx.res]);
    });

    const handle = koa.callback();
    await seenBy(
      http.createServer((request, response) => void handle(request, response)),
      () => {},
    );

    const responded = { ...ASKED, status: 204 };
    expect(shown).to.deep.equal([responded, ASKED, responded, ASKED, responded]);
  });

  it("is shown as method, path and status for a client's request and response", async () => {
    const server = http.createServer((_request, response) => response.writeHead(418, { "X-Note": SECRET }).end());

    // Node's types do not declare the request of a response.
    const shown = await seenBy(server, (response) => logged([response, (response as unknown as { req: object }).req]));

    expect(shown).to.deep.equal([{ ...ASKED, status: 418 }, ASKED]);
  });

  it("is shown as method, path and status for HTTP/2", async () => {
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

  it("is shown as method, path and status for fetch's objects", () => {
    const request = new Request(`https://shop.example${TARGET}`, { method: "PUT", headers: HEADERS });
    const response = new Response(SECRET, { status: 201, headers: HEADERS });

    expect(logged([request, response, request.headers])).to.deep.equal([
      { method: "PUT", path: "/links/7" },
      { status: 201 },
      {},
    ]);
  });

  it("is shown as method, path and status in place of the fields, and by the console log", () => {
    const { req } = context({ url: TARGET, headers: HEADERS });
    const sink = new CaptureSink();
    const registry = tracing.registry().with(new JsonLog(sink)).with(new ConsoleLog(sink));

    tracing.withSubscriber(registry, () => {
      // A JavaScript caller may do this.
      log.info("m", req as object as Record<string, unknown>);
      log.info("m", { req });
    });

    expect(JSON.parse(sink.lines()[0] ?? "")).to.deep.include({ fields: ASKED });
    expect(sink.lines()[3]).to.match(/ m req=\{"method":"GET","path":"\/links\/7"\}$/);
  });

  it("does not read the members of a context that give access to Node's objects", () => {
    const ctx = context({ url: TARGET });

    logged(ctx);

    expect([ctx.requestIsShared, ctx.isExposed]).to.deep.equal([false, false]);
  });

  it("is redacted by alsoRedact", () => {
    const sink = new CaptureSink();
    const json = new JsonLog(sink).alsoRedact("path");

    tracing.withSubscriber(tracing.registry().with(json), () => log.info("m", { ctx: context({ url: TARGET }) }));

    expect(sink.transcript()).to.include('"path":"[redacted]"');
  });

  it("is marked if it cannot be read, and the line is written", () => {
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

  it("is not a plain object, and not an instance without headers", () => {
    class Job {
      readonly method = "GET";
      readonly url = "/a?b";
    }

    expect(logged({ method: "GET", url: "/a?b", headers: { a: 1 } })).to.deep.equal({ headers: { a: 1 }, method: "GET", url: "/a?b" }); // prettier-ignore
    expect(logged(new Job())).to.deep.equal({ method: "GET", url: "/a?b" });
  });
});
