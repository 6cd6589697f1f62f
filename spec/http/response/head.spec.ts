import { once } from "node:events";
import http from "node:http";
import type { Socket } from "node:net";
import { expect } from "chai";
import { Readable } from "node:stream";
import { Application, NotFoundError, Route, Routes, SecurityHeaders, type Context } from "@stagecraft/framework";
import { FrameworkResponse } from "../../../lib/http/response/head.js";
import { Conversation } from "../../support/conversation.js";
import { listening } from "../../support/listening.js";
import { usesPrivateNames } from "../../support/node-names.js";
import { Stack } from "../../support/stack.js";

/** Node itself writes an empty piece behind head and body. */
const PIECES = usesPrivateNames ? 1 : 2;

const OF_STAGES = [
  "access-control-allow-origin",
  "strict-transport-security",
  "vary",
  "x-content-type-options",
  "x-frame-options",
  "x-request-id",
];

/** A server that counts the pieces in which each response is written to the socket. */
class Pieces implements AsyncDisposable {
  readonly counts: number[] = [];
  private constructor(
    private readonly running: { stop(): Promise<void> },
    readonly client: Conversation,
  ) {}

  /** `prepare` is code in front of the application. */
  static async of(
    body: (ctx: Context) => unknown,
    options: http.ServerOptions = {},
    prepare: (response: http.ServerResponse) => void = () => undefined,
  ): Promise<Pieces> {
    const { server, port } = await listening(http.createServer(options));
    const sockets = once(server, "connection");
    const app = Application.create()
      .routes(new Routes([Route.get("/", body)]))
      .requestId()
      .securityHeaders(new SecurityHeaders().withHsts())
      .cors({ origins: ["https://a.example"] })
      .lifecycle({ drainDelayMs: 0 })
      .build();
    const running = await app.serve(server);
    server.prependListener("request", (_request, response) => prepare(response));
    const pieces = new Pieces(running, await Conversation.with(port));
    // The event's one argument, by Node's documentation.
    const [socket] = (await sockets) as [Socket];
    pieces.watch(socket);
    return pieces;
  }

  async ask(request = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"): Promise<string> {
    this.client.say(request);
    return this.client.end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client[Symbol.asyncDispose]();
    await this.running.stop();
  }

  private watch(socket: Socket): void {
    const write = socket._write.bind(socket);
    const writev = socket._writev?.bind(socket);
    socket._write = (...args) => {
      this.counts.push(1);
      write(...args);
    };
    socket._writev = (chunks, done) => {
      this.counts.push(chunks.length);
      writev?.(chunks, done);
    };
  }
}

function get(n: number, more = ""): string {
  return `GET /?n=${n} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
}

/** Names of the header lines of a raw response, in lower case. */
function parseHeaderNames(text: string): readonly string[] {
  const head = text.slice(text.indexOf("\r\n") + 2, text.indexOf("\r\n\r\n"));
  return head.split("\r\n").map((line) => line.slice(0, line.indexOf(": ")).toLowerCase());
}

/** The lines of the head of a raw response, in alphabetical order; every date is the same. */
function sortHeadLines(text: string): readonly string[] {
  const lines = text.slice(0, text.indexOf("\r\n\r\n")).split("\r\n");
  return lines.map((line) => line.replace(/^(date: ).* (?!1970)\d{4} .*/i, "$1now")).toSorted();
}

/** Changes a response as on-headers 1.0 does: it handles headers as an object and as a list of pairs, and not as a flat list. */
function asOnHeaders(response: http.ServerResponse, listener: () => void): void {
  const writeHead = response.writeHead.bind(response);
  const replacement = (status: number, headers?: Readonly<Record<string, string>> | string[][]): unknown => {
    response.statusCode = status;
    if (Array.isArray(headers)) for (const [name = "", value = ""] of headers) response.setHeader(name, value);
    else for (const [name, value] of Object.entries(headers ?? {})) response.setHeader(name, value);
    listener();
    return writeHead(response.statusCode);
  };
  Object.assign(response, { writeHead: replacement });
}

describe("the head of a response that the framework alone writes", () => {
  const bodies: readonly (readonly [string, string, (ctx: Context) => unknown])[] = [
    ["text", "GET", () => "hello"],
    ["text that is not ASCII", "GET", () => "grüße"],
    ["a stream", "GET", () => Readable.from(["hel", "lo"])],
    ["nothing", "GET", () => null],
    ["no body, for HEAD", "HEAD", () => "hello"],
    ["a refusal", "GET", () => Promise.reject(new NotFoundError())],
    ["an unhandled error", "GET", () => Promise.reject(new Error("oops"))],
  ];
  for (const [what, method, body] of bodies) {
    it(`has each header of the stages once, before ${what}`, async () => {
      await using pieces = await Pieces.of(body);

      const names = parseHeaderNames(
        await pieces.ask(`${method} / HTTP/1.1\r\nHost: x\r\nOrigin: https://a.example\r\nConnection: close\r\n\r\n`),
      );

      for (const name of OF_STAGES) expect(names.filter((each) => each === name)).to.deep.equal([name]);
      expect(names).to.include.members(["date", "connection"]);
      expect(new Set(names)).to.have.property("size", names.length);
    });
  }

  it("is written by Node if the response has another class", async () => {
    const heads: unknown[] = [];
    class Noting<Request extends http.IncomingMessage = http.IncomingMessage> extends http.ServerResponse<Request> {
      override writeHead(status: number, ...rest: unknown[]): this {
        heads.push([...this.getHeaderNames(), ...rest]);
        return super.writeHead(status);
      }
    }
    await using pieces = await Pieces.of(() => "hello", { ServerResponse: Noting });

    const names = parseHeaderNames(await pieces.ask());

    expect(names).to.include.members(["x-request-id", "x-frame-options"]);
    expect(heads).to.have.lengthOf(1);
    expect(heads[0]).to.include.members(["content-length", "content-type", "x-request-id", "x-frame-options"]);
  });

  it("is written by Node if code in front of the application holds it back, with all headers of the stages", async () => {
    await using pieces = await Pieces.of(
      () => "hello",
      {},
      (response) => {
        const writeHead = response.writeHead.bind(response);
        const end = response.end.bind(response);
        let head: unknown[] = [];
        const later = (_status: number, pairs: unknown[] = []): http.ServerResponse => {
          head = pairs;
          return response;
        };
        const now = (chunk: unknown): http.ServerResponse => {
          writeHead(203, head as http.OutgoingHttpHeader[]);
          return end(chunk);
        };
        Object.assign(response, { writeHead: later, end: now });
      },
    );

    const text = await pieces.ask();

    expect(text).to.match(/^HTTP\/1\.1 203 [^]*\r\n\r\nhello$/);
    expect(parseHeaderNames(text)).to.include.members(["x-request-id", "x-frame-options"]);
  });

  it("is on the response where a `writeHead` as that of on-headers 1.0 reads it, and changes it", async () => {
    await using pieces = await Pieces.of(
      () => "hello",
      {},
      (response) =>
        asOnHeaders(response, () => response.setHeader("X-Length", String(response.getHeader("Content-Length")))),
    );

    const text = await pieces.ask();

    expect(text).to.match(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nhello$/);
    expect(text).to.contain("X-Length: 5\r\n");
    expect(parseHeaderNames(text)).to.include.members(["content-type", "x-request-id", "x-frame-options"]);
    expect(parseHeaderNames(text).filter((name) => name.length === 1)).to.deep.equal([]);
  });

  it("does not contain values that a handler put into the headers of the request", async () => {
    await using pieces = await Pieces.of((ctx) => {
      ctx.req.headers.origin = "https://a.example\r\nSet-Cookie: a=b";
      return "hello";
    });

    const text = await pieces.ask(
      "GET / HTTP/1.1\r\nHost: x\r\nOrigin: https://a.example\r\nConnection: close\r\n\r\n",
    );

    expect(parseHeaderNames(text)).to.include("access-control-allow-origin").and.not.include("set-cookie");
  });
});

describe("the end of a small response", () => {
  for (const { title, body } of [
    { title: "ASCII", body: "hello" },
    { title: "text in Latin-1", body: "grüße" },
    { title: "text beyond Latin-1", body: "漢字 🖋" },
    { title: "text with half a pair of surrogates", body: "\ud83d!" },
  ])
    it(`goes to the socket in one piece with its head if the body is ${title}`, async () => {
      await using pieces = await Pieces.of(() => body);

      const text = await pieces.ask();

      const sent = Buffer.from(body).toString("latin1");
      expect(text).to.match(/^HTTP\/1\.1 200 OK\r\n/);
      expect(text).to.contain(`Content-Length: ${sent.length}\r\n`);
      expect(text.slice(text.indexOf("\r\n\r\n") + 4)).to.equal(sent);
      expect(pieces.counts).to.deep.equal([PIECES]);
    });

  it("is sent whole for text beyond ASCII behind a header beyond ASCII", async () => {
    await using pieces = await Pieces.of((ctx) => {
      ctx.set("X-Name", "Zoë");
      return "漢字";
    });

    const text = await pieces.ask();

    expect(text).to.contain("\r\nX-Name: Zoë\r\n");
    expect(text.slice(text.indexOf("\r\n\r\n") + 4)).to.equal(Buffer.from("漢字").toString("latin1"));
  });

  const others = [
    { title: "bytes", body: Buffer.from([0, 255, 10]), sent: "\0\xff\n" },
    { title: "text that is long", body: "x".repeat(10_000), sent: "x".repeat(10_000) },
  ];
  for (const { title, body, sent } of others) {
    it(`is sent whole for ${title}`, async () => {
      await using pieces = await Pieces.of(() => body);

      const text = await pieces.ask();

      expect(text.slice(text.indexOf("\r\n\r\n") + 4)).to.equal(sent);
      expect(text).to.contain(`Content-Length: ${sent.length}\r\n`);
    });
  }

  it("is written by Node if the response has a transfer coding", async () => {
    await using pieces = await Pieces.of((ctx) => {
      ctx.set("Transfer-Encoding", "chunked");
      return "hello";
    });

    const text = await pieces.ask();

    expect(text).to.match(/Transfer-Encoding: chunked\r\n[^]*\r\n\r\n5\r\nhello\r\n0\r\n\r\n$/);
  });

  it("is written by a response of another class", async () => {
    class Shouting<Request extends http.IncomingMessage = http.IncomingMessage> extends http.ServerResponse<Request> {
      override end(...args: unknown[]): this {
        return super.end(String(args[0]).toUpperCase(), "utf8");
      }
    }
    await using pieces = await Pieces.of(() => "hello", { ServerResponse: Shouting });

    const text = await pieces.ask();

    expect(text).to.match(/\r\n\r\nHELLO$/);
  });

  it("is written by an `end` that code in front of the application has put on the response", async () => {
    await using pieces = await Pieces.of(
      () => "hello",
      {},
      (response) => {
        const end = response.end.bind(response);
        Object.assign(response, { end: (chunk: unknown) => end(String(chunk).toUpperCase()) });
      },
    );

    const text = await pieces.ask("GET / HTTP/1.0\r\nHost: x\r\n\r\n");

    expect(text).to.match(/\r\n\r\nHELLO$/);
  });

  it("is written by Node if Node checks its length", async () => {
    await using pieces = await Pieces.of(
      () => "hello",
      {},
      (response) => void (response.strictContentLength = true),
    );

    const text = await pieces.ask();

    expect(text).to.match(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nhello$/);
  });

  it("is written by an `end` that the handler has put on the response", async () => {
    await using pieces = await Pieces.of((ctx) => {
      const end = ctx.res.end.bind(ctx.res);
      ctx.res.end = ((body: string) => end(body.toUpperCase())) as typeof ctx.res.end;
      return "hello";
    });

    const text = await pieces.ask();

    expect(text).to.match(/\r\n\r\nHELLO$/);
  });

  it("keeps the responses to pipelined requests whole and in order", async () => {
    await using pieces = await Pieces.of((ctx) => ctx.search()["n"]);

    const text = await pieces.ask(get(1) + get(2) + get(3, "Connection: close\r\n"));

    expect(text.match(/\r\n\r\n\d/g)).to.deep.equal(["\r\n\r\n1", "\r\n\r\n2", "\r\n\r\n3"]);
  });

  it("is sent to a client of HTTP/1.0 too", async () => {
    await using pieces = await Pieces.of(() => "hello");

    const text = await pieces.ask("GET / HTTP/1.0\r\n\r\n");

    expect(text).to.match(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nhello$/);
  });
});

/** A server as those of the framework: `listening` takes an existing one. */
const OWN = { ServerResponse: FrameworkResponse } as http.ServerOptions;

describe("a header of the application", () => {
  const headers: readonly (readonly [string, (ctx: Context) => void])[] = [
    ["that no stage has", (ctx) => ctx.set("Server", "links")],
    ["with a number", (ctx) => ctx.set("X-Count", 42)],
    ["in place of that of a stage", (ctx) => ctx.set("X-Frame-Options", "SAMEORIGIN")],
    ["in place of that of a stage, in lower case", (ctx) => ctx.set("x-frame-options", "SAMEORIGIN")],
    ["that a stage replaces, in upper case", (ctx) => ctx.set("X-REQUEST-ID", "mine")],
    ["that a stage adds to", (ctx) => ctx.set("vary", "Accept")],
    ["with a type", (ctx) => ctx.set("content-type", "text/x-own")],
    ["with a cookie", (ctx) => ctx.set("Set-Cookie", "a=1")],
    ["with two cookies", (ctx) => ctx.set("Set-Cookie", ["a=1", "b=2"])],
    ["with a date", (ctx) => ctx.set("Date", "Thu, 01 Jan 1970 00:00:00 GMT")],
    ["that closes the connection", (ctx) => ctx.set("Connection", "close")],
    ["that tells another length", (ctx) => ctx.set("Content-Length", "3")],
    ["that asks for chunks", (ctx) => ctx.set("Transfer-Encoding", "chunked")],
    ["that names a file beyond ASCII", (ctx) => ctx.set("Content-Disposition", 'attachment; filename="é"')],
    ["with a name of every object", (ctx) => ctx.set({ constructor: "1", ["__proto__"]: "2", toString: "3" })],
    ["that was set and removed", (ctx) => (ctx.set("X-Gone", "1"), ctx.remove("X-Gone"))],
  ];
  const bodies: readonly (readonly [string, string, () => unknown])[] = [
    ["text", "GET", () => "hello"],
    ["JSON", "GET", () => ({ a: 1 })],
    ["a stream", "GET", () => Readable.from(["hello"])],
    ["nothing", "GET", () => null],
    ["no body, for HEAD", "HEAD", () => "hello"],
  ];
  for (const [title, set] of headers) {
    it(`${title} goes out as Node writes it, before every kind of body`, async () => {
      for (const [what, method, body] of bodies) {
        const request = `${method} / HTTP/1.1\r\nHost: x\r\nOrigin: https://a.example\r\nX-Request-Id: 1\r\nConnection: close\r\n\r\n`;
        await using ours = await Pieces.of((ctx) => (set(ctx), body()), OWN);
        // Node writes a response that the application has.
        await using nodes = await Pieces.of((ctx) => (set(ctx), ctx.res, body()), OWN);

        const [text, expected] = [await ours.ask(request), await nodes.ask(request)];

        expect(sortHeadLines(text), what).to.deep.equal(sortHeadLines(expected));
        expect(text.slice(text.indexOf("\r\n\r\n")), what).to.equal(expected.slice(expected.indexOf("\r\n\r\n")));
      }
    });
  }

  it("is on the response for observers of the end of the response", async () => {
    const seen: unknown[] = [];
    await using pieces = await Pieces.of(
      (ctx) => (ctx.set("X-Count", 42), "hello"),
      OWN,
      (response) =>
        response.once("finish", () => seen.push(response.getHeader("x-count"), response.hasHeader("X-COUNT"))),
    );

    await pieces.ask();

    expect(seen).to.deep.equal([42, true]);
  });

  it("leaves head and body of a small response in one piece", async () => {
    await using pieces = await Pieces.of((ctx) => (ctx.set("Server", "links"), "hello"), OWN);

    await pieces.ask();

    expect(pieces.counts).to.deep.equal([PIECES]);
  });
});

describe("a header value in Latin-1", () => {
  const bodies: readonly (readonly [string, (ctx: Context) => unknown])[] = [
    ["no body", () => undefined],
    ["short text in ASCII", () => "hello"],
    ["text that is not ASCII", () => "grüße"],
    ["long text", () => "x".repeat(10_000)],
    ["JSON that is not ASCII", () => ({ a: "ü" })],
    ["bytes", () => Buffer.from("hello")],
    ["a stream", () => Readable.from(["grüße"])],
    ["text on a response that the application holds", (ctx) => (ctx.res, "hello")],
    ["text behind a head that is written by hand", (ctx) => (ctx.res.writeHead(200), "hello")],
  ];
  for (const method of ["GET", "HEAD", "POST"]) {
    for (const [what, handler] of bodies) {
      it(`goes out in the same bytes for ${method} with ${what}`, async () => {
        await using stack = await Stack.of([], (ctx) => {
          ctx.set("X-Name", "Jos\u00e9");
          return handler(ctx);
        });

        const text = await stack.raw(
          `${method} / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
        );

        expect(text.toLowerCase()).to.contain("\r\nx-name: jos\u00e9\r\n");
      });
    }
  }
});
