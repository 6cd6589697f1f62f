import { expect } from "chai";
import { Application, Context, Route, RouteGroup, Routes, type RunningApplication } from "@stagecraft/framework";
import { createServer } from "node:net";
import { once } from "node:events";
import { Conversation } from "../support/conversation.js";

async function served(routes: Routes): Promise<RunningApplication & AsyncDisposable & { port: number }> {
  const listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const application = Application.create().lifecycle({ drainDelayMs: 0, drainDeadlineMs: 100 }).routes(routes).build();
  const running = await application.serve(listener);
  const port = Number(new URL(running.url).port);
  return { ...running, port, [Symbol.asyncDispose]: () => running.stop() };
}

async function raw(port: number, target: string, method = "GET"): Promise<string> {
  await using client = await Conversation.with(port);
  return await client.say(`${method} ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`).end();
}

const echo = (ctx: Context<string>) => `${ctx.method} ${JSON.stringify(ctx.params)}`;

const ROUTES = () =>
  new Routes([
    Route.get("/", () => "root"),
    Route.get("/links/{id}", echo),
    Route.post("/links/{id}", echo),
    Route.get("/links/new", () => "new"),
    Route.get("/files/{*rest}", echo),
    Route.any("/any", echo),
    Route.head("/head", (ctx) => {
      ctx.set("X-Head", "own");
    }),
    Route.get("/head", () => "get"),
    Route.delete("/café", () => "encoded"),
  ]);

const RESPONSES: readonly (readonly [method: string, target: string, response: RegExp])[] = [
  ["GET", "/", /200 OK[^]*root$/],
  ["GET", "/links/7", /200 OK[^]*GET \{"id":"7"\}$/],
  ["GET", "/links/a%2Fb", /200 OK[^]*\{"id":"a\/b"\}$/],
  ["GET", "/links/new", /200 OK[^]*new$/],
  ["POST", "/links/new", /200 OK[^]*POST \{"id":"new"\}$/],
  ["GET", "/links/__proto__", /200 OK[^]*\{"id":"__proto__"\}$/],
  ["GET", "/files/a/b%20c", /200 OK[^]*\{"rest":"a\/b c"\}$/],
  ["PATCH", "/any", /200 OK[^]*PATCH \{\}$/],
  ["HEAD", "/links/7", /200 OK[^]*Content-Length: 15\r\n[^]*\r\n\r\n$/],
  ["HEAD", "/head", /204 No Content[^]*X-Head: own[^]*\r\n\r\n$/],
  ["DELETE", "/caf%c3%a9", /200 OK[^]*encoded$/],
  ["GET", "http://other.example/links/7?q=1", /200 OK[^]*\{"id":"7"\}$/],
  ["GET", "http://other.example", /200 OK[^]*root$/],
  ["GET", "/Links/7", /404 Not Found[^]*Content-Length: 0[^]*\r\n\r\n$/],
  ["GET", "/links/7/", /404 Not Found/],
  ["GET", "//links/7", /404 Not Found/],
  ["GET", "/links/", /404 Not Found/],
  ["GET", "/links/%zz", /400 Bad Request[^]*urn:framework:problem:bad-request/],
  ["GET", "/links/%ff", /400 Bad Request/],
  ["GET", "/links/%00", /400 Bad Request/],
  ["GET", "/nowhere/%", /400 Bad Request/],
  [
    "PUT",
    "/links/7",
    /405 Method Not Allowed(?=[^]*\r\nContent-Length: 0\r\n)[^]*\r\nAllow: GET, HEAD, OPTIONS, POST\r\n[^]*\r\n$/,
  ],
  ["TRACE", "/links/7", /405 Method Not Allowed/],
  ["TRACE", "/nowhere", /404 Not Found/],
  ["OPTIONS", "/links/7", /204 No Content[^]*Allow: GET, HEAD, OPTIONS, POST\r\n/],
  ["OPTIONS", "/nowhere", /404 Not Found/],
  ["OPTIONS", "/any", /200 OK[^]*OPTIONS \{\}$/],
  ["OPTIONS", "*", /^HTTP\/1\.1 204 No Content(?![^]*Allow:)/],
];

describe("the router of an application", () => {
  for (const [method, target, response] of RESPONSES) {
    it(`responds to ${method} ${target} with ${response.source.split("[^]*", 1)[0]}`, async () => {
      await using app = await served(ROUTES());

      const text = await raw(app.port, target, method);

      expect(text).to.match(response);
    });
  }

  it("runs middleware of collection, group and route in this order, and only after a match", async () => {
    const order: string[] = [];
    const mark = (name: string) => async (_ctx: Context, next: () => Promise<void>) => {
      order.push(name);
      await next();
    };
    const group = new RouteGroup("/g", [Route.get("/a", () => "a").middleware(mark("route"))]).middleware(
      mark("group"),
    );
    const routes = new Routes([group, Route.get("/b", () => "b")]).middleware(mark("collection"));
    await using app = await served(routes);

    await raw(app.port, "/g/a");
    await raw(app.port, "/g/a", "POST");
    await raw(app.port, "/nowhere");

    expect(order).to.deep.equal(["collection", "group", "route"]);
  });

  it("sends the value that a middleware returns, and 404 if it neither responds nor calls next", async () => {
    const routes = new Routes([
      Route.get("/returned", () => "handler").middleware(() => ({ by: "middleware" })),
      Route.get("/dropped", () => "handler").middleware(async () => {}),
    ]);
    await using app = await served(routes);

    expect(await raw(app.port, "/returned")).to.match(/200 OK[^]*\{"by":"middleware"\}$/);
    expect(await raw(app.port, "/dropped")).to.match(/404 Not Found/);
  });

  it("serves routes that are added to the @koa/router by hand, also for a path that has other methods", async () => {
    const routes = ROUTES();
    await using app = await served(routes);

    routes.router().get("/by-hand/:id", (ctx) => {
      ctx.body = `hand ${String(ctx.params["id"])}`;
    });
    routes.router().put("/links/:id", (ctx) => {
      ctx.body = "put by hand";
    });

    expect(await raw(app.port, "/by-hand/7")).to.match(/200 OK[^]*hand 7$/);
    expect(await raw(app.port, "/links/7", "PUT")).to.match(/200 OK[^]*put by hand$/);
    expect(await raw(app.port, "/links/7", "DELETE")).to.match(
      /405 Method Not Allowed[^]*Allow: GET, HEAD, OPTIONS, POST/,
    );
    expect(await raw(app.port, "/nowhere")).to.match(/404 Not Found/);
  });
});
