import http from "node:http";
import { Application, Route, Routes } from "@stagecraft/framework";
import { expect } from "chai";
import { createServer } from "../../lib/server/server.js";
import { Conversation } from "../support/conversation.js";
import { listening } from "../support/listening.js";
import { Stack } from "../support/stack.js";

const TOO_LARGE = "431 Request Header Fields Too Large";

const coded = (coding: string, version = "HTTP/1.1") =>
  `POST / ${version}\r\nHost: x\r\n${coding}\r\n\r\n3\r\nabc\r\n0\r\n\r\n`;
const lines = (count: number) => Array.from({ length: count }, (_value, at) => `x${at}:1\r\n`).join("");

const REFUSALS: readonly (readonly [string, string, string])[] = [
  ["bytes that are not HTTP", "hello\r\n\r\n", "400 Bad Request"],
  ["an unknown method", "BREW / HTTP/1.1\r\nHost: x\r\n\r\n", "400 Bad Request"],
  ["a header line without a colon", "GET / HTTP/1.1\r\nHost: x\r\nbroken\r\n\r\n", "400 Bad Request"],
  [
    "two different lengths",
    "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    "400 Bad Request",
  ],
  [
    "a length and a transfer coding",
    "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    "400 Bad Request",
  ],
  ["a head of more than 16 KiB", `GET / HTTP/1.1\r\nHost: x\r\nX-A: ${"a".repeat(17_000)}\r\n\r\n`, TOO_LARGE],
  ["a target of 100 kB", `GET /${"a".repeat(100_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, TOO_LARGE],
  ["1001 header lines", `GET / HTTP/1.1\r\nHost: x\r\n${lines(1000)}\r\n`, TOO_LARGE],
  ["more header lines than Node keeps", `GET / HTTP/1.1\r\nHost: x\r\n${lines(2000)}\r\n`, TOO_LARGE],
  ["no host", "GET / HTTP/1.1\r\n\r\n", "400 Bad Request"],
  ["two hosts", "GET / HTTP/1.1\r\nHost: x\r\nhost: y\r\n\r\n", "400 Bad Request"],
  ["the same host twice", "GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n", "400 Bad Request"],
  ["two hosts in HTTP/1.0", "GET / HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n", "400 Bad Request"],
  ["a malformed host", "GET / HTTP/1.1\r\nHost: x/y\r\n\r\n", "400 Bad Request"],
  ["a host with credentials", "GET / HTTP/1.1\r\nHost: a@x\r\n\r\n", "400 Bad Request"],
  ["a malformed port", "GET / HTTP/1.1\r\nHost: x:y\r\n\r\n", "400 Bad Request"],
  ["two hosts in one line", "GET / HTTP/1.1\r\nHost: x, y\r\n\r\n", "400 Bad Request"],
  ["HTTP/2.0 in a request line", "GET / HTTP/2.0\r\nHost: x\r\n\r\n", "400 Bad Request"],
  ["HTTP/0.9 in a request line", "GET / HTTP/0.9\r\nHost: x\r\n\r\n", "400 Bad Request"],
  ["chunks of gzip", coded("Transfer-Encoding: gzip, chunked"), "400 Bad Request"],
  ["chunks of gzip, on two lines", coded("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked"), "400 Bad Request"],
  ["chunks of chunks", coded("Transfer-Encoding: chunked, chunked"), "400 Bad Request"],
  ["gzip without chunks", coded("Transfer-Encoding: gzip"), "400 Bad Request"],
  ["an empty transfer coding", coded("Transfer-Encoding:"), "400 Bad Request"],
  ["chunks in HTTP/1.0", coded("Transfer-Encoding: chunked", "HTTP/1.0"), "400 Bad Request"],
  [
    "an unknown expectation",
    "POST / HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nContent-Length: 0\r\n\r\n",
    "417 Expectation Failed",
  ],
];

describe("the parser", () => {
  for (const [what, bytes, status] of REFUSALS) {
    it(`refuses ${what} with ${status} and closes the connection`, async () => {
      await using stack = await Stack.of([], () => "handled");
      await using client = await Conversation.with(stack.port);

      const text = await client.say(bytes).end();

      expect(text).to.equal(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
      expect(client.wasReset).to.equal(false);
    });
  }

  it("accepts HTTP/1.0", async () => {
    await using stack = await Stack.of([], () => "handled");
    await using client = await Conversation.with(stack.port);

    const text = await client.say("GET / HTTP/1.0\r\n\r\n").end();

    expect(text).to.match(/^HTTP\/1\.1 200 OK[^]*handled$/);
  });

  const hosts = ["", "x", "x:80", "x:", "127.0.0.1:80", "[::1]:80", "[v1.x]", "sub_domain.x-y.example", "%c3%a4"];
  for (const host of hosts) {
    it(`accepts "${host}" as a host`, async () => {
      await using stack = await Stack.of([], () => "handled");

      const text = await stack.raw(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);

      expect(text).to.match(/^HTTP\/1\.1 200 OK[^]*handled$/);
    });
  }

  it("accepts all of 1000 header lines", async () => {
    await using stack = await Stack.of([], ({ headers }) => headers["x998"]);

    const text = await stack.raw(`GET / HTTP/1.0\r\nHost: x\r\n${lines(999)}\r\n`);

    expect(text).to.match(/^HTTP\/1\.1 200 OK[^]*\r\n\r\n1$/);
  });

  it("reads chunks if the coding is written in another case", async () => {
    await using stack = await Stack.of([], (ctx) => ctx.text());
    await using client = await Conversation.with(stack.port);

    const text = await client.say(coded("transfer-encoding:  Chunked  ")).hear(/abc$/);

    expect(text).to.match(/^HTTP\/1\.1 200 OK/);
  });

  it("closes the connection of a CONNECT", async () => {
    await using stack = await Stack.of([], () => "handled");
    await using client = await Conversation.with(stack.port);

    const text = await client.say("CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n").end();

    expect(text).not.to.contain("handled");
  });

  it("serves an upgrade without a listener as an ordinary request", async () => {
    await using stack = await Stack.of([], () => "handled");
    await using client = await Conversation.with(stack.port);

    const text = await client
      .say("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
      .hear(/handled$/);

    expect(text).to.match(/^HTTP\/1\.1 200 OK/);
  });

  it("sends no header that names the server", async () => {
    await using stack = await Stack.of([], () => "handled");

    const { headers } = await stack.ask();

    expect(headers).not.to.have.any.keys("server", "x-powered-by");
  });
});

describe("the server", () => {
  it("waits 60 s for a head, 300 s for a request and 65 s for the next request", () => {
    const { headersTimeout, requestTimeout, keepAliveTimeout } = createServer({
      handleRequest() {},
      handleContinue() {},
    });

    expect([headersTimeout, requestTimeout, keepAliveTimeout]).to.deep.equal([60_000, 300_000, 65_000]);
  });
});

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

async function answering(seen: string[] = []): Promise<Stack> {
  return Stack.of([], async (ctx) => {
    seen.push(ctx.path);
    if (ctx.path === "/slow") await new Promise((resolve) => setTimeout(resolve, 20));
    if (ctx.method === "POST") return ctx.text();
    return `<${ctx.path}>`;
  });
}

describe("pipelined requests", () => {
  it("get their responses in order", async () => {
    await using stack = await answering();
    await using client = await Conversation.with(stack.port);

    const text = await client.say(get("/slow") + get("/fast")).hear(/<\/fast>$/);

    expect(text.indexOf("</slow>")).to.be.lessThan(text.indexOf("</fast>"));
  });

  for (const [what, bytes, status] of REFUSALS) {
    it(`get their responses before ${what} is refused, and later ones are not served`, async () => {
      const seen: string[] = [];
      await using stack = await answering(seen);
      await using client = await Conversation.with(stack.port);

      const text = await client.say(get("/slow") + get("/fast") + bytes + get("/behind")).end();

      const [slow = "", fast = "", refusal] = text.split(/(?=HTTP\/1\.1 )/);
      expect([slow.slice(0, 15), slow.slice(-7)]).to.deep.equal(["HTTP/1.1 200 OK", "</slow>"]);
      expect([fast.slice(0, 15), fast.slice(-7)]).to.deep.equal(["HTTP/1.1 200 OK", "</fast>"]);
      expect(refusal).to.equal(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
      expect(seen).to.deep.equal(["/slow", "/fast"]);
      expect(client.wasReset).to.equal(false);
    });
  }

  it("get their responses before one with a malformed body, which gets the refusal as its response", async () => {
    await using stack = await answering();
    await using client = await Conversation.with(stack.port);

    const broken = "POST /broken HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n";
    const text = await client.say(get("/slow") + broken).end();

    expect(text.match(/HTTP\/1\.1 .*/g)).to.deep.equal(["HTTP/1.1 200 OK", "HTTP/1.1 400 Bad Request"]);
  });

  it("get their responses before CONNECT closes their connection", async () => {
    await using stack = await answering();
    await using client = await Conversation.with(stack.port);

    const text = await client
      .say(`${get("/slow")}CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n${get("/behind")}`)
      .end();

    expect(text).to.match(/^HTTP\/1\.1 200 OK[^]*<\/slow>$/);
    expect(client.wasReset).to.equal(false);
  });

  it("get no refusal after a response that closes the connection", async () => {
    await using stack = await answering();
    await using client = await Conversation.with(stack.port);

    const last = "GET /slow HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    const text = await client.say(`${last}nonsense\r\n\r\n`).end();

    expect(text).to.match(/^HTTP\/1\.1 200 OK[^]*<\/slow>$/);
  });

  it("are not read after a pipelined request was refused", async () => {
    await using stack = await answering();
    await using client = await Conversation.with(stack.port);
    await client.say(`${get("/slow")}GET /hostless HTTP/1.1\r\n\r\n`).hear(/<\/slow>/);

    for (let sent = 0; sent < 50; sent++) client.say(get(`/${"x".repeat(10_000)}`));
    const text = await client.end();

    expect(text.match(/HTTP\/1\.1 .*/g)).to.deep.equal(["HTTP/1.1 200 OK", "HTTP/1.1 400 Bad Request"]);
    expect(client.wasReset).to.equal(false);
  });
});

describe("a server of the caller", () => {
  it("keeps its own settings for hosts and header lines", async () => {
    const server = http.createServer({ requireHostHeader: false });
    server.maxHeadersCount = 2;
    const routes = new Routes([Route.get("/", () => "home")]);
    const { port } = await listening(server);
    const running = await Application.create().routes(routes).lifecycle({ drainDelayMs: 0 }).build().serve(server);
    const said = async (bytes: string): Promise<string> => {
      await using client = await Conversation.with(port);
      return await client.say(bytes).end();
    };

    const served = await said("GET / HTTP/1.1\r\nConnection: close\r\n\r\n");
    const refused = await said(`GET / HTTP/1.1\r\n${lines(3)}\r\n`);
    await running.stop();

    expect(served).to.match(/^HTTP\/1\.1 200 OK[^]*home$/);
    expect(refused).to.equal(`HTTP/1.1 ${TOO_LARGE}\r\nConnection: close\r\n\r\n`);
  });
});
