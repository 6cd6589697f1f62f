/** An application as the request listener of an HTTP/2 server, through Node's compatibility API. */
import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import https from "node:https";
import type net from "node:net";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { Application, type Context, Route, Routes } from "@stagecraft/framework";
import { expect } from "chai";
import { Conversation } from "../support/conversation.js";
import { Gate } from "../support/gate.js";
import { listening } from "../support/listening.js";
import { rejectionOf } from "../support/rejection-of.js";
import { selfSigned } from "../support/tls-front.js";

const { key, cert } = selfSigned();
const { NGHTTP2_CANCEL } = http2.constants;

class Server implements AsyncDisposable {
  readonly session: http2.ClientHttp2Session;

  private constructor(
    readonly server: net.Server,
    readonly port: number,
  ) {
    this.session = http2.connect(`http://127.0.0.1:${port}`);
  }

  static async of(...handlers: readonly Route[]): Promise<Server> {
    const app = Application.create().routes(new Routes(handlers)).bodyLimit(100_000).build();
    const listener = app.callback();
    // Node's types have only the listener of HTTP/1.
    const server = http2.createServer(listener as never).on("checkContinue", listener as never);
    return new Server(server, (await listening(server)).port);
  }

  begin(path: string, headers: http2.OutgoingHttpHeaders = {}, hasBody = false): http2.ClientHttp2Stream {
    return this.session.request({ ":path": path, ...headers }, { endStream: !hasBody });
  }

  async ask(path: string, headers: http2.OutgoingHttpHeaders = {}, body?: string): Promise<readonly [unknown, string]> {
    const stream = this.begin(path, headers, body !== undefined);
    if (body !== undefined) stream.end(body);
    // The event's argument, by Node's documentation.
    const [head] = (await once(stream, "response")) as [http2.IncomingHttpHeaders];
    return [head[":status"], await text(stream)];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.session.destroy();
    this.server.close();
    await once(this.server, "close");
  }
}

const POST = { ":method": "POST", "content-type": "application/json" };

describe("an application over HTTP/2", () => {
  it("serves requests and reads their bodies, without a warning of Node", async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error): void => void warnings.push(warning);
    process.on("warning", warn);
    await using server = await Server.of(
      Route.get("/", (ctx) => [ctx.protocol, ctx.host, ctx.ip]),
      Route.get("/status", (ctx) => {
        ctx.status = 202;
        return "accepted";
      }),
      Route.post("/", (ctx) => ctx.json()),
      Route.post("/unread", () => "unread"),
    );

    const answers = [
      await server.ask("/"),
      await server.ask("/status"),
      await server.ask("/", POST, '{"a":1}'),
      await server.ask("/", { ...POST, "content-length": 7 }, '{"a":1}'),
      await server.ask("/unread", { ...POST, "content-length": 300 }, "x".repeat(300)),
    ];
    process.off("warning", warn);

    expect(answers).to.deep.equal([
      [200, `["http","127.0.0.1:${server.port}","127.0.0.1"]`],
      [202, "accepted"],
      [200, '{"a":1}'],
      [200, '{"a":1}'],
      [200, "unread"],
    ]);
    expect(warnings).to.deep.equal([]);
  });

  for (const [what, headers] of [
    ["announced", { ...POST, "content-length": 1_000_000 }],
    ["not announced", POST],
  ] as const) {
    it(`refuses a body over the limit whose length is ${what}, and makes the client stop sending`, async () => {
      await using server = await Server.of(Route.post("/", (ctx) => ctx.text()));

      const stream = server.begin("/", headers, true);
      stream.end("x".repeat(1_000_000));
      const [head] = (await once(stream, "response")) as [http2.IncomingHttpHeaders];
      stream.resume();
      while (!stream.closed) await new Promise((resolve) => setImmediate(resolve));

      expect([head[":status"], stream.rstCode]).to.deep.equal([413, 0]);
    });
  }

  for (const [title, answer] of [
    ["is shorter than its Content-Length", (ctx: Context) => (ctx.set("Content-Length", "10"), Readable.from(["abc"]))],
    ["is longer than its Content-Length", (ctx: Context) => (ctx.set("Content-Length", "2"), Readable.from(["abc"]))],
    [
      "the handler breaks off",
      (ctx: Context) => {
        ctx.res.write("abc");
        throw new Error("boom");
      },
    ],
  ] as const) {
    it(`resets the stream of a response whose body ${title}`, async () => {
      await using server = await Server.of(Route.get("/", answer));
      const stream = server.begin("/");

      const failure = await new Promise((resolve) => stream.once("error", resolve).once("end", resolve).resume());

      expect(failure).to.have.property("code", "ERR_HTTP2_STREAM_ERROR");
      // The client may see first that the length does not fit (RFC 9113 section 8.1.1).
      const { NGHTTP2_INTERNAL_ERROR, NGHTTP2_PROTOCOL_ERROR } = http2.constants;
      expect(stream.rstCode).to.be.oneOf([NGHTTP2_INTERNAL_ERROR, NGHTTP2_PROTOCOL_ERROR]);
    });
  }

  it("aborts the signal of a cancelled stream, and no other signal of the connection", async () => {
    const aborted = new Gate<unknown>();
    const [both, goOn] = [new Gate(), new Gate()];
    const signals: AbortSignal[] = [];
    const wait = async ({ signal }: Context): Promise<string> => {
      signals.push(signal);
      signal.addEventListener("abort", () => aborted.open(signal.reason));
      if (signals.length === 2) both.open();
      await goOn.passed;
      return "kept";
    };
    await using server = await Server.of(Route.get("/", wait));
    const cancelled = server.begin("/");
    const kept = server.ask("/");
    await both.passed;

    cancelled.close(NGHTTP2_CANCEL);
    const reason = await aborted.passed;
    goOn.open();

    expect(reason).to.include({ code: "E_CLIENT_GONE" });
    expect(await kept).to.deep.equal([200, "kept"]);
    expect(signals.map((signal) => signal.aborted)).to.deep.equal([true, false]);
  });

  it("does not read the body of a cancelled stream as complete", async () => {
    const [begun, read] = [new Gate(), new Gate<unknown>()];
    await using server = await Server.of(
      Route.post("/", async (ctx) => {
        begun.open();
        read.open(await ctx.text().catch((error: unknown) => error));
      }),
    );
    const stream = server.begin("/", POST, true);
    stream.write("half of");
    await begun.passed;

    // `close` would send the end of the body first.
    stream.on("error", () => {}).destroy(new Error("cancelled"));

    expect(await read.passed).to.include({ code: "E_CLIENT_GONE" });
  });

  for (const [title, path, continues, status] of [
    ["sends 100 Continue when a handler reads", "/read", 1, 200],
    ["does not send 100 Continue if no handler reads", "/unread", 0, 200],
  ] as const) {
    it(title, async () => {
      await using server = await Server.of(
        Route.post("/read", (ctx) => ctx.text()),
        Route.post("/unread", () => "unread"),
      );
      let seen = 0;
      const stream = server.begin(path, { ...POST, expect: "100-continue" }, true);
      stream.on("continue", () => {
        seen += 1;
        stream.end("body");
      });

      const [head] = (await once(stream, "response")) as [http2.IncomingHttpHeaders];

      expect([head[":status"], seen]).to.deep.equal([status, continues]);
    });
  }

  it("serves HTTP/1.1 on the same port over TLS if the server allows it", async () => {
    const app = Application.create().routes(new Routes([Route.get("/", (ctx) => [ctx.req.httpVersion, ctx.protocol])]));
    const server = http2.createSecureServer({ key, cert, allowHTTP1: true }, app.build().callback() as never);
    const { port } = await listening(server);

    const session = http2.connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
    const second = await text(session.request({ ":path": "/" }));
    session.destroy();
    const request = https.get({ host: "127.0.0.1", port, rejectUnauthorized: false, agent: false });
    const [response] = (await once(request, "response")) as [NodeJS.ReadableStream];
    const first = await text(response);
    server.close();

    expect([second, first]).to.deep.equal(['["2.0","https"]', '["1.1","https"]']);
  });

  it("serves HTTP/1 requests that claim to be HTTP/2 as HTTP/1", async () => {
    const app = Application.create().routes(new Routes([Route.get("/{number}", ({ params }) => `<${params.number}>`)]));
    using own = await listening(http.createServer(app.build().callback()));
    const sockets: net.Socket[] = [];
    own.server.on("connection", (socket) => void sockets.push(socket));
    await using client = await Conversation.with(own.port);
    const listeners: (number | undefined)[] = [];

    for (const number of [1, 2, 3]) {
      client.say(`GET /${number} HTTP/2.0\r\nHost: x\r\nConnection: keep-alive\r\n\r\n`);
      await client.hear(new RegExp(`<${number}>$`));
      listeners.push(sockets[0]?.listenerCount("close"));
    }

    expect(sockets).to.have.length(1);
    expect(new Set(listeners)).to.have.property("size", 1);
  });

  for (const [what, make] of [
    ["an HTTP/2 server", () => http2.createServer()],
    ["an HTTP/2 server with TLS", () => http2.createSecureServer({ key, cert, allowHTTP1: true })],
  ] as const) {
    it(`refuses ${what} in serve(), and names callback()`, async () => {
      const refusal = await rejectionOf(Application.create().build().serve(make()));

      expect(refusal).to.include({ code: "E_SERVER_HTTP2" });
      expect(refusal.message).to.contain("HTTP/2").and.to.contain("application.callback()");
    });
  }
});
