import { expect } from "chai";
import { Application, Clock, provide, Route, Routes } from "../../../lib/entries/main.js";
import type { Context } from "../../../lib/http/request/context.js";
import { FakeClock } from "../../../lib/testing/fake-clock.js";
import { Conversation } from "../../support/conversation.js";
import { Gate } from "../../support/gate.js";
import { Stack } from "../../support/stack.js";
import { until } from "../../support/until.js";

const SIZE = 3_000_000;
/** So many bytes wait in a client whose server reads nothing. */
const FLOOD = 4_000_000;
const get = (path: string, lines = ""): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n${lines}\r\n`;
const post = (body: string): string => `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const CHUNKED = `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n`;
const CLOSE = "Connection: close\r\n";
const LARGE = Buffer.alloc(SIZE, "b");

function answer(ctx: Context): unknown {
  if (ctx.path === "/large") return LARGE;
  if (ctx.path === "/last") ctx.set("Connection", "close");
  return `<${ctx.path}>`;
}

const LAST: readonly (readonly [string, string, string])[] = [
  ["the request asks for it", get("/last", CLOSE), "</last>"],
  ["the handler says so", get("/last"), "</last>"],
  ["a long body is unread", post("x".repeat(100_000)), "</>"],
  ["a body of unknown length is unread", CHUNKED, "</>"],
];

describe("a response that closes the connection", () => {
  for (const [why, bytes, end] of LAST) {
    it(`arrives whole, with the responses before it, while the client sends on: ${why}`, async () => {
      // No time passes on its clock: the two seconds for the client to close are not over.
      await using stack = await Stack.of([], answer, new FakeClock());
      await using client = await Conversation.with(stack.port);
      client.socket.pause();

      client.say(get("/large") + bytes + get("/behind").repeat(20_000));
      await client.quiet(50);
      client.socket.resume();
      const text = await client.end();

      expect(text.match(/b{1000}/g)).to.have.length(SIZE / 1000);
      expect(text.endsWith(end)).to.equal(true);
      expect(client.wasReset).to.equal(false);
    });
  }

  it("arrives whole if it is the only response", async () => {
    await using stack = await Stack.of([], answer, new FakeClock());
    await using client = await Conversation.with(stack.port);
    client.socket.pause();

    client.say(get("/large", CLOSE) + get("/behind").repeat(20_000));
    await client.quiet(50);
    client.socket.resume();
    const text = await client.end();

    expect(text.match(/b{1000}/g)).to.have.length(SIZE / 1000);
  });

  it("is not cut by the drain", async () => {
    const routes = new Routes([Route.get("/{name}", answer)]);
    const app = await Application.create()
      .routes(routes)
      .provide(provide(Clock).useValue(new FakeClock()))
      .lifecycle({ drainDelayMs: 0 })
      .build()
      .start();
    await using client = await Conversation.with((app.address as { readonly port: number }).port);
    client.socket.pause();

    client.say(get("/large") + get("/last") + get("/behind"));
    // By then the kernel has the responses.
    await client.quiet(200);
    const stopping = app.stopWithin(60_000);
    for (let turn = 0; turn < 20; turn++) await client.say("x").quiet(10);
    client.socket.resume();
    const text = await client.end();
    client.socket.end();

    expect(text.match(/b{1000}/g)).to.have.length(SIZE / 1000);
    expect(await stopping).to.include({ forced: 0 });
  });

  it("gives the client two seconds to close if requests came after it", async () => {
    const clock = new FakeClock();
    await using stack = await Stack.of([], answer, clock);
    await using client = await Conversation.with(stack.port);
    client.say(get("/last") + get("/behind"));
    await client.end();

    clock.advance(1999);
    for (let turn = 0; turn < 3; turn++) await client.say("x").quiet(20);
    const resetEarly = client.wasReset;
    clock.advance(1);
    await until(() => client.isClosed || client.say("x").wasReset);

    expect(resetEarly).to.equal(false);
  });

  it("lets the server notice that the client closes behind a body that is not read", async () => {
    const gate = new Gate();
    let behind: Context | undefined;
    const handler = (ctx: Context): Promise<unknown> => {
      if (ctx.path === "/last") return gate.passed.then(() => answer(ctx));
      return new Promise((resolve) => (behind = ctx).signal.addEventListener("abort", resolve));
    };
    // No time passes on its clock: the two seconds for the client to close are not over.
    await using stack = await Stack.of([], handler, new FakeClock());
    await using client = await Conversation.with(stack.port);

    client.say(get("/last") + post("x".repeat(400_000)));
    await until(() => behind?.connection.socket.isPaused() === true);
    gate.open();
    await client.end();
    client.socket.end();

    await until(() => behind?.connection.socket.destroyed === true);
    expect(client.wasReset).to.equal(false);
  });

  it("is followed by a megabyte of discarded bytes at most, and by no reset for two seconds", async () => {
    const clock = new FakeClock();
    await using stack = await Stack.of([], answer, clock);
    await using client = await Conversation.with(stack.port);

    client.say(get("/last") + get("/behind"));
    await client.end();
    const before = client.socket.bytesWritten;
    const flood = setInterval(() => client.say("x".repeat(65_536)), 1);
    await until(() => client.isClosed || client.socket.writableLength > FLOOD);
    clearInterval(flood);
    await client.quiet(50);
    const { isClosed, socket } = client;
    const unread = socket.writableLength;
    clock.advance(2000);
    await until(() => client.isClosed);

    expect(isClosed).to.equal(false);
    expect(unread).to.be.above(0);
    expect(client.wasReset).to.equal(true);
    expect(client.socket.bytesWritten - before).to.be.above(1_048_576);
  });

  for (const [what, bytes] of [
    ["a request alone", get("/last")],
    ["the last of two requests", get("/first") + get("/last")],
  ] as const) {
    it(`closes at once if no request came after it: ${what}`, async () => {
      const clock = new FakeClock();
      await using stack = await Stack.of([], answer, clock);
      await using client = await Conversation.with(stack.port);

      await client.say(bytes).end();
      await until(() => client.isClosed || client.say("x").wasReset);

      expect(clock.pending).to.equal(0);
    });
  }
});
