import { expect } from "chai";
import { createServer } from "../../lib/app/server.js";
import { Conversation } from "../support/conversation.js";
import { Stack } from "../support/stack.js";

const REFUSALS: readonly (readonly [string, string, string])[] = [
  ["something that is no HTTP", "hello\r\n\r\n", "400 Bad Request"],
  ["an unknown method", "BREW / HTTP/1.1\r\nHost: x\r\n\r\n", "400 Bad Request"],
  ["a header line without a colon", "GET / HTTP/1.1\r\nHost: x\r\nbroken\r\n\r\n", "400 Bad Request"],
  [
    "two lengths that differ",
    "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    "400 Bad Request",
  ],
  [
    "a length beside a transfer coding",
    "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    "400 Bad Request",
  ],
  [
    "a head of more than 16 KiB",
    `GET / HTTP/1.1\r\nHost: x\r\nX-A: ${"a".repeat(17_000)}\r\n\r\n`,
    "431 Request Header Fields Too Large",
  ],
  [
    "a target of 100 kB",
    `GET /${"a".repeat(100_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
    "431 Request Header Fields Too Large",
  ],
  [
    "an unknown expectation",
    "POST / HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nContent-Length: 0\r\n\r\n",
    "417 Expectation Failed",
  ],
];

describe("what the parser refuses", () => {
  for (const [what, bytes, status] of REFUSALS) {
    it(`answers ${what} with ${status} and closes the connection`, async () => {
      await using stack = await Stack.of([], () => "handled");
      await using client = await Conversation.with(stack.port);

      const text = await client.say(bytes).end();

      expect(text).to.equal(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
      expect(client.wasReset).to.equal(false);
    });
  }

  it("answers HTTP/1.0", async () => {
    await using stack = await Stack.of([], () => "handled");
    await using client = await Conversation.with(stack.port);

    const text = await client.say("GET / HTTP/1.0\r\n\r\n").end();

    expect(text).to.match(/^HTTP\/1\.1 200 OK[^]*handled$/);
  });

  it("closes CONNECT", async () => {
    await using stack = await Stack.of([], () => "handled");
    await using client = await Conversation.with(stack.port);

    const text = await client.say("CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n").end();

    expect(text).not.to.contain("handled");
  });

  it("treats an upgrade nobody claims as an ordinary request", async () => {
    await using stack = await Stack.of([], () => "handled");
    await using client = await Conversation.with(stack.port);

    const text = await client
      .say("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
      .hear(/handled$/);

    expect(text).to.match(/^HTTP\/1\.1 200 OK/);
  });

  it("never names itself", async () => {
    await using stack = await Stack.of([], () => "handled");

    const { headers } = await stack.ask();

    expect(headers).not.to.have.any.keys("server", "x-powered-by");
  });
});

describe("the server", () => {
  it("waits 60 s for a head, 300 s for a request, and 65 s for the next one", () => {
    const { headersTimeout, requestTimeout, keepAliveTimeout } = createServer({ request() {}, continue() {} });

    expect([headersTimeout, requestTimeout, keepAliveTimeout]).to.deep.equal([60_000, 300_000, 65_000]);
  });
});

describe("pipelined requests", () => {
  it("are answered in order", async () => {
    await using stack = await Stack.of([], async (ctx) => {
      if (ctx.path === "/slow") await new Promise((resolve) => setTimeout(resolve, 20));
      return `<${ctx.path}>`;
    });
    await using client = await Conversation.with(stack.port);

    client.say("GET /slow HTTP/1.1\r\nHost: x\r\n\r\nGET /fast HTTP/1.1\r\nHost: x\r\n\r\n");
    const text = await client.hear(/<\/fast>$/);

    expect(text.indexOf("</slow>")).to.be.lessThan(text.indexOf("</fast>"));
  });
});
