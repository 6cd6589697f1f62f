import { pipeline } from "node:stream/promises";
import { Readable, Writable } from "node:stream";
import { expect } from "chai";
import type { Context } from "../../lib/kernel/context.js";
import { BadRequestError } from "../../lib/kernel/errors.js";
import { Conversation } from "../support/conversation.js";
import { Stack } from "../support/stack.js";
import { until } from "../support/until.js";

const POST = "POST / HTTP/1.1\r\nHost: x\r\n";
const GET = "GET /second HTTP/1.1\r\nHost: x\r\n\r\n";
const BLOCK = "x".repeat(65_536);

async function refuseFirstChunk(ctx: Context): Promise<string> {
  if (ctx.path === "/second") return "second";
  for await (const chunk of ctx.req) throw new BadRequestError(`no ${String(chunk).length > 0}`);
  return "nothing read";
}

async function failingPipeline(ctx: Context): Promise<void> {
  const sink = new Writable({
    write: (_chunk, _encoding, done) => done(new BadRequestError("the sink is full")),
  });
  await pipeline(ctx.req, sink);
}

async function leaveStanding(ctx: Context): Promise<string> {
  if (ctx.path === "/second") return "second";
  await new Promise<void>((resolve) => {
    ctx.req.once("data", () => {
      ctx.req.pause();
      resolve();
    });
  });
  return "first";
}

async function refuseByHand(ctx: Context): Promise<string | undefined> {
  if (ctx.path === "/second") return "second";
  await refuseFirstChunk(ctx).catch(() => {});
  ctx.res.writeHead(400, { "Content-Length": 7 }).end("by hand");
  return undefined;
}

async function readTwice(ctx: Context): Promise<string> {
  await refuseFirstChunk(ctx).catch(() => {});
  return ctx.text();
}

describe("a body that a handler stops reading in the middle", () => {
  for (const [title, handler] of [
    ["a loop that is left", refuseFirstChunk],
    ["a pipeline that fails", failingPipeline],
  ] as const) {
    for (const framing of ["Content-Length: 300000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n10000\r\n"]) {
      it(`does not take the answer with it: ${title}, ${framing.split("\r\n", 1)[0]}`, async () => {
        await using stack = await Stack.of([], handler);
        await using client = await Conversation.with(stack.port);

        client.say(`${POST}${framing}${BLOCK}`);
        const text = await client.end();

        expect(text).to.match(/^HTTP\/1\.1 400 Bad Request/);
        expect(text).to.match(/Connection: close/i);
        expect(client.wasReset).to.equal(false);
      });
    }
  }

  for (const [title, handler, status] of [
    ["left", refuseFirstChunk, "400 Bad Request"],
    ["left standing", leaveStanding, "200 OK"],
  ] as const) {
    it(`keeps the connection usable where the rest is small: ${title}`, async () => {
      await using stack = await Stack.of([], handler);
      await using client = await Conversation.with(stack.port);

      client.say(`${POST}Content-Length: 65536\r\n\r\n${BLOCK.slice(0, 1000)}`);
      await client.hear(new RegExp(`^HTTP/1\\.1 ${status}`));
      client.say(BLOCK.slice(1000) + GET);
      const text = await client.hear(/second$/);

      expect(text).not.to.match(/Connection: close/i);
    });
  }

  it("does not hold up the next request where the handler answers by hand", async () => {
    await using stack = await Stack.of([], refuseByHand);
    await using client = await Conversation.with(stack.port);

    client.say(`${POST}Content-Length: 65536\r\n\r\n${BLOCK.slice(0, 1000)}`);
    await client.hear(/by hand$/);
    client.say(BLOCK.slice(1000) + GET);

    await client.hear(/second$/);
  });

  it("ends the connection where the handler answers by hand and the rest is long", async () => {
    await using stack = await Stack.of([], refuseByHand);
    await using client = await Conversation.with(stack.port);

    client.say(`${POST}Content-Length: 10000000\r\n\r\n${BLOCK}`);

    expect(await client.end()).to.match(/by hand$/);
  });

  it("cannot be read by another reader, who is told so instead of waiting", async () => {
    await using stack = await Stack.of([], readTwice);
    await using client = await Conversation.with(stack.port);

    client.say(`${POST}Content-Length: 1000\r\n\r\nabc`);

    await client.hear(/^HTTP\/1\.1 500 /);
  });

  it("still ends with the client, when that leaves", async () => {
    const seen: unknown[] = [];
    const handler = async (ctx: Context): Promise<void> => {
      try {
        for await (const chunk of ctx.req) seen.push(String(chunk));
      } catch (error) {
        seen.push(error);
      }
    };
    await using stack = await Stack.of([], handler);
    const client = await Conversation.with(stack.port);

    client.say(`${POST}Content-Length: 1000\r\n\r\nabc`);
    await until(() => seen.length === 1);
    client.socket.resetAndDestroy();
    await until(() => seen.length === 2);

    expect(seen[0]).to.equal("abc");
    expect(seen[1]).to.have.property("code", "ECONNRESET");
  });
});

describe("an answer that is made of the body as it is read", () => {
  for (const [title, echo] of [
    ["the request itself", (ctx: Context): unknown => ctx.req],
    ["a stream that reads it", (ctx: Context): unknown => Readable.from(ctx.req)],
  ] as const) {
    it(`passes whole, however long it is: ${title}`, async () => {
      await using stack = await Stack.of([], echo);
      await using client = await Conversation.with(stack.port);

      client.say(`${POST}Transfer-Encoding: chunked\r\n\r\n`);
      for (let sent = 0; sent < 48; sent++) client.say(`10000\r\n${BLOCK}\r\n`);
      client.say("0\r\n\r\n");
      const text = await client.end();

      expect(text.match(/x/g)).to.have.length(48 * 65_536);
      expect(text).to.match(/\r\n0\r\n\r\n$/);
    });
  }

  it("is cut off from the body where it ends before", async () => {
    let failure: unknown;
    const handler = (ctx: Context): Readable => {
      void (async () => {
        for await (const chunk of ctx.req) expect(chunk).not.to.equal(undefined);
      })().catch((error: unknown) => {
        failure = error;
      });
      return Readable.from(["short"]);
    };
    await using stack = await Stack.of([], handler);
    await using client = await Conversation.with(stack.port);

    client.say(`${POST}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`);
    const text = await client.end();

    expect(text)
      .to.contain("short")
      .and.to.match(/Connection: close/i);
    expect(failure).to.have.property("code", "E_BODY_BROKEN_OFF");
  });
});
