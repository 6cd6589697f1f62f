/**
 * Many concurrent clients that send requests of all kinds, break off anywhere and leave in any way, to handlers that are slow, fail, stream
 * or write by hand: each request is logged once, counted once and released.
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { connect, type Socket } from "node:net";
import { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { Application, ProxyAction, RateLimit, Reply, Route, Routes, type Context } from "@stagecraft/framework";
import { HTTP_REQUESTS_TOTAL, Metrics } from "@stagecraft/framework/observe/metrics";
import { testApp, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { alone } from "../support/alone.js";
import { until } from "../support/until.js";

const TIMEOUT_MS = 15;
const LIMIT_BYTES = 20_000;
const CLIENTS = 40;
const VISITS = 12;
const WORDS = "the same again, ".repeat(150);

const below = (bound: number) => Math.floor(Math.random() * bound);
const oneOf = <T>(first: T, ...others: readonly T[]): T => others[below(others.length + 1)] ?? first;

async function* words(fails: boolean): AsyncGenerator<string> {
  for (let part = 0; part < 4; part++) {
    yield WORDS;
    await pause(below(8));
  }
  if (fails) throw new Error("the source is gone");
}

const stream = (fails: boolean) => Reply.of(Readable.from(words(fails)), "text/plain; charset=utf-8");

const routes = new Routes([
  Route.get("/slow", () => pause(below(30), WORDS)),
  Route.get("/listening", ({ signal }) => pause(below(30), WORDS, { signal })),
  Route.get("/failing", () => pause(below(30)).then(() => Promise.reject(new Error("broken")))),
  Route.get("/stream", () => stream(false)),
  Route.get("/failing-stream", () => stream(true)),
  Route.get("/by-hand", async (ctx) => {
    ctx.res.writeHead(200, { "Content-Type": "text/plain" });
    ctx.res.write("begun");
    await pause(below(30));
    ctx.res.end("ended");
  }),
  Route.post("/read", async (ctx: Context) => `read ${(await ctx.text()).length}`),
  Route.post("/echo", (ctx) => Reply.of(ctx.req, "text/plain")),
  Route.post("/unread", () => pause(below(20), WORDS)),
]);

function request(): string {
  const close = oneOf("", "Connection: close\r\n");
  const get = oneOf("/slow", "/listening", "/failing", "/stream", "/failing-stream", "/by-hand");
  const encoding = oneOf("gzip", "br", "identity", "*;q=0");
  if (below(3) > 0)
    return `${oneOf("GET", "GET", "HEAD")} ${get} HTTP/1.1\r\nHost: x\r\n${close}Accept-Encoding: ${encoding}\r\n\r\n`;
  const body = "y".repeat(below(1.5 * LIMIT_BYTES));
  const head = `POST ${oneOf("/read", "/echo", "/unread")} HTTP/1.1\r\nHost: x\r\n${close}${oneOf("", "Expect: 100-continue\r\n")}`;
  return oneOf(
    `${head}Content-Length: ${body.length}\r\n\r\n${body}`,
    `${head}Transfer-Encoding: chunked\r\n\r\n${(body.length + 1).toString(16)}\r\n${body}z\r\n0\r\n\r\n`,
  );
}

/** Sends one or several requests, complete or not, and leaves. */
async function visit(port: number): Promise<void> {
  const socket = connect(port, "127.0.0.1").on("error", () => {});
  const bytes = request() + oneOf("", "", request()) + oneOf("", "", request());
  socket.resume().write(oneOf(bytes, bytes, bytes.slice(0, below(bytes.length))));
  await pause(oneOf(60, below(25)));
  oneOf(
    () => socket.end(),
    () => socket.destroy(),
    () => socket.resetAndDestroy(),
  )();
}

/** The open connections of the servers of this process. */
class OpenConnections implements Disposable {
  count = 0;

  private readonly opened = (message: unknown): void => {
    this.count++;
    // By Node's documentation of the channel.
    (message as { readonly socket: Socket }).socket.once("close", () => this.count--);
  };

  constructor() {
    subscribe("net.server.socket", this.opened);
  }

  [Symbol.dispose](): void {
    unsubscribe("net.server.socket", this.opened);
  }
}

function eventsOf(
  app: TestApp,
): readonly { readonly target: string; readonly fields: { readonly request_id: string } }[] {
  // The log's lines are JSON objects with these members.
  return app.logs.lines().map((line) => JSON.parse(line) as ReturnType<typeof eventsOf>[number]);
}

describe("a storm of clients", function () {
  this.timeout(120_000);
  this.slow(10_000);
  before(alone());

  let running: TestApp | undefined;
  // A disposal in the test would hide the error of the test behind its own.
  afterEach(() => running?.stop());

  it("has each request logged once and counted once, and leaks nothing", async () => {
    let seen = 0;
    const metrics = new Metrics();
    const app = (running = await testApp(
      Application.create()
        .routes(routes)
        .proxy(() => ((seen += 1), ProxyAction.continue()))
        .compression()
        .securityHeaders()
        .cors({ origins: "*" })
        .requestId()
        .accessLog()
        .metrics(metrics)
        .catchPanic()
        .errorMapping()
        .bodyLimit(LIMIT_BYTES)
        .timeout(TIMEOUT_MS)
        .rateLimit(RateLimit.perSecond(300)),
    ));
    const port = Number(new URL(app.url).port);
    const accessLines = () => eventsOf(app).filter(({ target }) => target === "framework::observe::access_log");

    const client = async (): Promise<void> => {
      for (let count = 0; count < VISITS; count++) await visit(port);
    };
    using connections = new OpenConnections();
    await Promise.all(Array.from({ length: CLIENTS }, client));
    await until(
      () => connections.count === 0 && accessLines().length >= seen,
      () => `${seen} requests, ${accessLines().length} of them logged, ${connections.count} connections open`,
    );
    // Fails where a request is still in flight.
    await app.stop();

    const lines = accessLines();
    const counts = [...metrics.render().matchAll(new RegExp(`^${HTTP_REQUESTS_TOTAL}\\{.*\\} (\\d+)$`, "gm"))];
    // How many requests arrive whole before their client leaves depends on the machine.
    expect(seen).to.be.above(CLIENTS);
    expect(lines).to.have.length(seen);
    expect(new Set(lines.map(({ fields }) => fields.request_id)).size).to.equal(seen);
    expect(counts.reduce((sum, [, count]) => sum + Number(count), 0)).to.equal(seen);
    expect(eventsOf(app).filter(({ target }) => target === "framework::http::last_resort")).to.deep.equal([]);
  });
});
