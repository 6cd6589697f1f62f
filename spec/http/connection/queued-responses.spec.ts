import { pipeline, Readable } from "node:stream";
import { expect } from "chai";
import type { Context } from "../../../lib/http/request/context.js";
import { StaticSite } from "../../support/static-site.js";
import { Conversation } from "../../support/conversation.js";
import { Gate } from "../../support/gate.js";
import { canCountDescriptors, untilOpen } from "../../support/open-descriptors.js";
import { Stack } from "../../support/stack.js";
import { until } from "../../support/until.js";

const GET = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

async function* failing(): AsyncGenerator<string> {
  yield "begun";
  throw new Error("the source is gone");
}

/** `/slow` gets a response when the client leaves. The response to every other path is a stream that never ends. */
class Streams {
  readonly made: Readable[] = [];

  constructor(private readonly send: (ctx: Context, stream: Readable) => unknown) {}

  readonly answer = (ctx: Context): unknown => {
    if (ctx.path === "/slow") return new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
    const stream = new Readable({ read() {} });
    stream.push("begun");
    this.made.push(stream);
    return this.send(ctx, stream);
  };
}

describe("a response that is queued behind another on its connection", () => {
  const ways: readonly (readonly [string, (ctx: Context, stream: Readable) => unknown])[] = [
    ["is returned", (_ctx, stream) => stream],
    ["is written by hand", (ctx, stream) => void pipeline(stream, ctx.res, () => {})],
    [
      "is left to a callback",
      (ctx, stream) => {
        ctx.respond = false;
        setImmediate(() => pipeline(stream, ctx.res, () => {}));
      },
    ],
  ];
  for (const [title, send] of ways) {
    it(`destroys its stream when the client leaves: one that ${title}`, async () => {
      const streams = new Streams(send);
      await using stack = await Stack.of([], streams.answer);
      const client = await Conversation.with(stack.port);

      client.say(GET("/slow") + GET("/a") + GET("/b"));
      await until(() => streams.made.length === 2);
      await client.quiet(20);
      expect(streams.made.map(({ destroyed }) => destroyed)).to.deep.equal([false, false]);
      client.socket.resetAndDestroy();

      await until(() => streams.made.every(({ destroyed }) => destroyed));
    });
  }

  const cuts: readonly (readonly [string, (ctx: Context) => unknown])[] = [
    ["its stream fails", () => Readable.from(failing())],
    ["its handler destroys it before its head", ({ res }) => void res.destroy()],
    ["its handler destroys it behind its head", ({ res }) => (res.write("begun"), void res.destroy())],
  ];
  for (const [title, cut] of cuts) {
    it(`closes the connection when it becomes the current one and ${title}`, async () => {
      const gate = new Gate();
      let queued: Context | undefined;
      const handler = async (ctx: Context): Promise<unknown> => {
        if (ctx.path === "/cut") return cut((queued = ctx));
        await gate.passed;
        return `<${ctx.path}>`;
      };
      await using stack = await Stack.of([], handler);
      await using client = await Conversation.with(stack.port);

      client.say(GET("/first") + GET("/cut") + GET("/behind"));
      await until(() => queued?.raw.destroyed === true);
      gate.open();

      expect(await client.end()).to.match(/<\/first>$/);
    });
  }

  it("emits close to its listeners once", async () => {
    let late: Context | undefined;
    let closed = 0;
    const handler = async (ctx: Context): Promise<void> => {
      if (ctx.path === "/late") (late = ctx).res.on("close", () => (closed += 1));
      await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
    };
    await using stack = await Stack.of([], handler);
    const client = await Conversation.with(stack.port);

    client.say(GET("/slow") + GET("/late"));
    await until(() => late !== undefined);
    client.socket.resetAndDestroy();
    await until(() => closed > 0);
    await client.quiet(20);

    expect(closed).to.equal(1);
  });

  it("closes its file when the client leaves", async function () {
    if (!canCountDescriptors) this.skip();
    using site = new StaticSite();
    const path = site.put("large.bin", Buffer.alloc(8_000_000));
    await using stack = await site.serve();
    const client = await Conversation.with(stack.port);
    client.socket.pause();

    client.say(GET("/large.bin").repeat(20));
    await untilOpen(path, 20);
    client.socket.resetAndDestroy();

    await untilOpen(path, 0);
  });

  it("is not sent to a client that has left, and does not disturb the server", async () => {
    let late: Context | undefined;
    const handler = async (ctx: Context): Promise<string> => {
      if (ctx.path === "/next") return "still there";
      if (ctx.path === "/late") late = ctx;
      await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
      ctx.res.write("too late");
      ctx.res.end();
      return "too late";
    };
    await using stack = await Stack.of([], handler);
    const client = await Conversation.with(stack.port);

    client.say(GET("/slow") + GET("/late"));
    await until(() => late !== undefined);
    client.socket.resetAndDestroy();
    await until(() => late?.phase === "closed");

    expect(late?.raw.destroyed).to.equal(true);
    expect((await stack.ask("/next")).text).to.equal("still there");
  });
});
