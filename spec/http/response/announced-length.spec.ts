import { Readable } from "node:stream";
import { expect } from "chai";
import type { Context } from "../../../lib/http/request/context.js";
import { respondWithReturned } from "../../../lib/http/response/returned-value.js";
import { Reply } from "../../../lib/http/response/reply.js";
import { Conversation } from "../../support/conversation.js";
import { eventsOf } from "../../support/events-of.js";
import { Stack } from "../../support/stack.js";

const get = (path: string, method = "GET"): string => `${method} ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

type Chunks = readonly string[];
type Way = (ctx: Context, chunks: Chunks) => unknown;

/** Yields each chunk in an iteration of the event loop of its own, so that each one is written alone. */
function bytes(chunks: Chunks): Readable {
  return Readable.from(slowly(chunks), { objectMode: false });
}

async function* slowly(chunks: Chunks): AsyncGenerator<Buffer> {
  for (const chunk of chunks) {
    await new Promise((resolve) => setImmediate(resolve));
    yield Buffer.from(chunk);
  }
}

const FIVE = { "Content-Length": "5" };

/** The ways in which an application announces the length. */
const WAYS: readonly (readonly [string, Way])[] = [
  ["a stream that is returned", (ctx, chunks) => (ctx.set(FIVE), bytes(chunks))],
  ["a stream on the context", (ctx, chunks) => ((ctx.length = 5), void (ctx.body = bytes(chunks)))],
  ["a stream of texts", (ctx, chunks) => (ctx.set(FIVE), Readable.from(chunks))],
  ["a stream in a reply", (_ctx, chunks) => Reply.of(bytes(chunks)).header("Content-Length", "5")],
  ["a web stream", (ctx, chunks) => (ctx.set(FIVE), Readable.toWeb(bytes(chunks)))],
  [
    "a fetch Response",
    (_ctx, chunks) => new Response(Readable.toWeb(bytes(chunks)) as ReadableStream, { headers: FIVE }),
  ],
  [
    "a stream where the application has Node's response",
    (ctx, chunks) => (ctx.res.setHeader("Content-Length", 5), bytes(chunks)),
  ],
  ["a stream after a head that was written by hand", (ctx, chunks) => (ctx.res.writeHead(200, FIVE), bytes(chunks))],
  ["a text after a head that was written by hand", (ctx, chunks) => (ctx.res.writeHead(200, FIVE), chunks.join(""))],
];

interface Exchanged {
  readonly text: string;
  readonly events: readonly string[];
}

/** Sends requests for `/` and `/next`, and reads both responses or the end of the connection. */
async function sendTwoRequests(response: (ctx: Context) => unknown, method = "GET"): Promise<Exchanged> {
  let text = "";
  const handler = async (ctx: Context): Promise<unknown> =>
    ctx.path === "/next" ? "<next>" : respondWithReturned(ctx, await response(ctx));
  const events = await eventsOf(async () => {
    await using stack = await Stack.of([], handler);
    await using client = await Conversation.with(stack.port);
    client.say(get("/", method) + get("/next"));
    text = await Promise.race([client.hear(/<next>$/).catch(() => client.received), client.end()]);
  });
  return { text, events: events.filter((line) => line.startsWith("ERROR")) };
}

/** Returns the text after the first head. */
const getBody = (text: string): string => text.slice(text.indexOf("\r\n\r\n") + 4);

describe("a body with a Content-Length that the application announced", () => {
  for (const [what, way] of WAYS) {
    it(`ends the connection if the body is shorter than its Content-Length: ${what}`, async () => {
      const { text, events } = await sendTwoRequests((ctx) => way(ctx, ["ab", "c"]));

      expect("abc").to.match(new RegExp(`^${getBody(text)}`));
      expect(events).to.deep.equal([
        "ERROR framework::http::send: response failed " +
          "error=FrameworkError: the body has 3 bytes of the 5 in its Content-Length status=200",
      ]);
    });

    it(`is cut at its Content-Length, and the connection ends: ${what}`, async () => {
      const { text, events } = await sendTwoRequests((ctx) => way(ctx, ["hello", "HTTP/1.1 200 OK"]));

      expect("hello").to.match(new RegExp(`^${getBody(text)}`));
      expect(events).to.deep.equal([
        "ERROR framework::http::send: response failed " +
          "error=FrameworkError: the body is longer than its Content-Length of 5 bytes status=200",
      ]);
    });

    it(`keeps the connection if the body is as long as its Content-Length: ${what}`, async () => {
      const { text, events } = await sendTwoRequests((ctx) => way(ctx, ["hel", "lo"]));

      expect(getBody(text)).to.match(/^helloHTTP\/1\.1 200 OK[^]*<next>$/);
      expect(events).to.deep.equal([]);
    });
  }

  it("ends the connection if the stream of a short body had ended before it was sent", async () => {
    const { text, events } = await sendTwoRequests(async (ctx) => {
      ctx.set(FIVE);
      const empty = Readable.from([]).resume();
      await new Promise((resolve) => empty.once("end", resolve));
      ctx.body = empty;
    });

    expect(text).not.to.contain("<next>");
    expect(events).to.have.length(1);
  });

  it("is not compared with its Content-Length for HEAD", async () => {
    const { text, events } = await sendTwoRequests((ctx) => (ctx.set(FIVE), bytes(["a"])), "HEAD");

    expect(getBody(text)).to.match(/^HTTP\/1\.1 200 OK[^]*<next>$/);
    expect(events).to.deep.equal([]);
  });

  it("is not compared with its Content-Length if it is sent in chunks", async () => {
    const { text, events } = await sendTwoRequests((ctx) => {
      ctx.res.setHeader("Transfer-Encoding", "chunked");
      return bytes(["abc"]);
    });

    expect(text).to.match(/3\r\nabc\r\n0\r\n\r\nHTTP\/1\.1 200 OK[^]*<next>$/);
    expect(events).to.deep.equal([]);
  });

  it("is not compared with its Content-Length if the application writes the bytes itself", async () => {
    const { text, events } = await sendTwoRequests((ctx) => void ctx.res.writeHead(200, FIVE).end("abc"));

    expect(getBody(text)).to.match(/^abcHTTP\/1\.1 200 OK[^]*<next>$/);
    expect(events).to.deep.equal([]);
  });

  it("may follow a first part of the body that was written by hand", async () => {
    const { text, events } = await sendTwoRequests((ctx) => {
      ctx.res.writeHead(200, FIVE).write("he");
      return bytes(["llo"]);
    });

    expect(getBody(text)).to.match(/^helloHTTP\/1\.1 200 OK[^]*<next>$/);
    expect(events).to.deep.equal([]);
  });
});

describe("framing that the application set wrongly", () => {
  const kinds = [
    ["a text", () => "hello"],
    ["a stream", () => bytes(["hello"])],
  ] as const;
  const settings: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ["a transfer coding beside a length", { "Transfer-Encoding": "chunked", "Content-Length": "5" }],
    ["a transfer coding without chunks", { "Transfer-Encoding": "gzip" }],
    ["a length that is not a number", { "Content-Length": "abc" }],
    ["a length below zero", { "Content-Length": "-5" }],
    ["a list of lengths", { "Content-Length": "5, 6" }],
  ];
  for (const [kind, body] of kinds) {
    for (const [what, headers] of settings) {
      it(`is corrected, so that the next response is read whole: ${what}, with ${kind}`, async () => {
        const { text, events } = await sendTwoRequests((ctx) => (ctx.set(headers), body()));

        const [head = ""] = text.split("\r\n\r\n");
        expect(head.match(/^(?:transfer-encoding: chunked|content-length: 5)\r?$/gim)).to.have.length(1);
        expect(getBody(text)).to.match(/^(?:5\r\nhello\r\n0\r\n\r\n|hello)HTTP\/1\.1 200 OK[^]*<next>$/);
        expect(events).to.deep.equal([]);
      });
    }
  }

  it("is no transfer coding in a response to HTTP/1.0", async () => {
    await using stack = await Stack.of([], (ctx) => {
      ctx.set("Transfer-Encoding", "chunked");
      return respondWithReturned(ctx, bytes(["hello"]));
    });
    await using client = await Conversation.with(stack.port);
    client.say("GET / HTTP/1.0\r\nHost: a\r\n\r\n");
    await client.end();

    expect(client.received).not.to.match(/transfer-encoding/i);
    expect(getBody(client.received)).to.equal("hello");
  });
});
