import { expect } from "chai";
import { TimeoutLayer } from "../../../lib/stages/timeout.js";
import type { Context } from "../../../lib/http/request/context.js";
import { FakeClock } from "../../../lib/testing/fake-clock.js";
import { Conversation } from "../../support/conversation.js";
import { Gate } from "../../support/gate.js";
import { Stack } from "../../support/stack.js";
import { until } from "../../support/until.js";

/** So many bytes wait in a client whose server reads nothing. */
const FLOOD = 4_000_000;
const POST = "POST / HTTP/1.1\r\nHost: x\r\n";
const GET = "GET /second HTTP/1.1\r\nHost: x\r\n\r\n";

async function readOneChunk(ctx: Context): Promise<unknown> {
  for await (const chunk of ctx.req) return chunk;
  return undefined;
}

describe("a response while the request's body is unread", () => {
  it("keeps the connection if the rest has a small announced length", async () => {
    await using stack = await Stack.of([], (ctx) => ctx.path);
    await using client = await Conversation.with(stack.port);

    client.say(`${POST}Content-Length: 65536\r\n\r\n${"x".repeat(1000)}`);
    await client.hear(/\r\n\r\n\/$/);
    client.say("x".repeat(64_536) + GET);
    const text = await client.hear(/\/second$/);

    expect(text.match(/HTTP\/1\.1 200 OK/g)).to.have.length(2);
    expect(text).not.to.match(/Connection: close/i);
  });

  it("closes the connection without a reset if the announced rest is larger", async () => {
    await using stack = await Stack.of([], () => "no");
    await using client = await Conversation.with(stack.port);

    client.say(`${POST}Content-Length: 10000000000\r\n\r\n`);
    const text = await client.hear(/no$/);
    for (let sent = 0; sent < 900_000; sent += 10_000) client.say("x".repeat(10_000));
    await client.end();

    expect(text).to.match(/Connection: close/i);
    expect(client.wasReset).to.equal(false);
  });

  const readers: readonly (readonly [string, (ctx: Context) => unknown, boolean])[] = [
    ["the handler does not read", () => "no", false],
    ["a reader stops in the middle", readOneChunk, false],
    ["a reader goes on after the time is over", (ctx) => ctx.text(), true],
  ];
  for (const [title, handler, timesOut] of readers) {
    it(`waits two seconds for a small announced rest, then ends the connection: ${title}`, async () => {
      const clock = new FakeClock();
      await using stack = await Stack.of([new TimeoutLayer(5000)], handler, clock);
      await using client = await Conversation.with(stack.port);

      client.say(`${POST}Content-Length: 1000\r\n\r\nx`);
      if (timesOut) {
        await until(() => clock.pending === 1);
        clock.advance(5000);
      }
      await client.hear(/^HTTP\/1\.1 (?:200|408) [^]*keep-alive/);
      await client.quiet(20);
      clock.advance(1999);
      await client.quiet(20);
      const wasClosedEarly = client.isClosed || client.socket.readableEnded;
      clock.advance(1);
      await client.end();

      expect(wasClosedEarly).to.equal(false);
    });
  }

  it("has no time limit if the handler reads on", async () => {
    const clock = new FakeClock();
    let read = "";
    const handler = (ctx: Context): string => {
      ctx.req.on("data", (chunk: Buffer) => (read += String(chunk)));
      return "accepted";
    };
    await using stack = await Stack.of([], handler, clock);
    await using client = await Conversation.with(stack.port);

    client.say(`${POST}Content-Length: 6\r\n\r\none`);
    await client.hear(/accepted$/);
    clock.advance(60_000);
    client.say("two");

    await until(() => read === "onetwo");
  });

  it("reads a megabyte of a client that sends on, and resets the connection only after two seconds", async () => {
    const clock = new FakeClock();
    await using stack = await Stack.of([], () => "no", clock);
    await using client = await Conversation.with(stack.port);

    client.say(`${POST}Transfer-Encoding: chunked\r\n\r\n`);
    await client.hear(/no$/);
    const flood = setInterval(() => client.say(`10000\r\n${"x".repeat(65_536)}\r\n`), 1);
    await until(() => client.isClosed || client.socket.writableLength > FLOOD);
    clearInterval(flood);
    await client.quiet(50);
    const { isClosed, socket } = client;
    const unread = socket.writableLength;
    clock.advance(2000);
    await until(() => client.isClosed);

    expect(client.received).to.match(/^HTTP\/1\.1 200 OK[^]*Connection: close[^]*no$/i);
    expect(isClosed).to.equal(false);
    expect(unread).to.be.above(0);
    expect(client.wasReset).to.equal(true);
  });

  it("discards the body for two seconds, then destroys the connection", async () => {
    const clock = new FakeClock();
    await using stack = await Stack.of([], () => "no", clock);
    await using client = await Conversation.with(stack.port);
    client.say(`${POST}Transfer-Encoding: chunked\r\n\r\n`);
    await client.end();

    clock.advance(1999);
    client.say("1\r\nx\r\n");
    await client.quiet(50);
    const resetEarly = client.wasReset;
    clock.advance(1);
    await client.quiet(50);
    client.say("1\r\nx\r\n");
    await until(() => client.wasReset || client.say("1\r\nx\r\n").wasReset);

    expect(client.received).to.match(/Connection: close/i);
    expect(resetEarly).to.equal(false);
    expect(client.wasReset).to.equal(true);
  });

  it("is sent for a chunked body that ends in time, and the connection closes", async () => {
    await using stack = await Stack.of([], () => "fine");
    await using client = await Conversation.with(stack.port);

    client.say(`${POST}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`);
    await client.hear(/fine$/);
    client.say("0\r\n\r\n");
    await client.end();

    expect(client.wasReset).to.equal(false);
  });

  it("discards a body on GET in the same way", async () => {
    await using stack = await Stack.of([], (ctx) => ctx.path);
    await using client = await Conversation.with(stack.port);

    client.say(`GET /first HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc${GET}`);
    const text = await client.hear(/\/second$/);

    expect(text).to.match(/\/first[^]*\/second$/);
  });
});

describe("Expect: 100-continue", () => {
  const EXPECTING = `${POST}Expect: 100-continue\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\n`;

  it("gets a 100 as soon as the body is read", async () => {
    await using stack = await Stack.of([], async (ctx) => ctx.text());
    await using client = await Conversation.with(stack.port);

    client.say(EXPECTING);
    await client.hear(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
    client.say("hello");
    const text = await client.hear(/hello$/);

    expect(text).to.match(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/);
  });

  it("gets only the refusal if the body is not read", async () => {
    await using stack = await Stack.of([], (ctx) => void (ctx.status = 403));
    await using client = await Conversation.with(stack.port);

    client.say(EXPECTING);
    const text = await client.end();

    expect(text).to.match(/^HTTP\/1\.1 403 Forbidden/);
    expect(text).to.match(/Connection: close/i);
    expect(text).not.to.contain("100 Continue");
  });

  const FIRST = "GET /first HTTP/1.1\r\nHost: x\r\n\r\n";

  it("gets no 100 in a queued response if the body has already arrived", async () => {
    const first = new Gate();
    const handler = async (ctx: Context): Promise<unknown> => {
      if (ctx.path === "/first") await first.passed;
      if (ctx.path !== "/") return `<${ctx.path}>`;
      const body = Buffer.from(await ctx.text());
      setImmediate(() => first.open());
      return body;
    };
    await using stack = await Stack.of([], handler);
    await using client = await Conversation.with(stack.port);

    client.say(`${FIRST}${EXPECTING}hello${GET}`);
    const text = await client.hear(/<\/second>$/);

    const answers = text.split(/(?=HTTP\/1\.1 )/).map((answer) => answer.split("\r\n\r\n"));
    expect(answers.map(([head = ""]) => head.slice(9, 12))).to.deep.equal(["200", "200", "200"]);
    expect(answers.map(([, body]) => body)).to.deep.equal(["</first>", "hello", "</second>"]);
  });

  it("gets a 100 after the earlier responses if the client waits for it", async () => {
    const [first, reading] = [new Gate(), new Gate()];
    const handler = async (ctx: Context): Promise<unknown> => {
      if (ctx.path === "/first") await first.passed;
      if (ctx.path !== "/") return `<${ctx.path}>`;
      const body = ctx.text();
      reading.open();
      return Buffer.from(await body);
    };
    await using stack = await Stack.of([], handler);
    await using client = await Conversation.with(stack.port);

    client.say(FIRST + EXPECTING);
    await reading.passed;
    first.open();
    await client.hear(/<\/first>HTTP\/1\.1 100 Continue\r\n\r\n$/);
    client.say("hello");
    const text = await client.hear(/hello$/);

    expect(text.match(/HTTP\/1\.1 .*/g)).to.deep.equal(["HTTP/1.1 200 OK", "HTTP/1.1 100 Continue", "HTTP/1.1 200 OK"]);
  });
});
