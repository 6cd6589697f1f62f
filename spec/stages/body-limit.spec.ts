import { expect } from "chai";
import { BodyLimitLayer } from "../../lib/stages/body-limit.js";
import { CatchPanicLayer } from "../../lib/stages/catch-panic.js";
import { ErrorMapping } from "../../lib/stages/error-mapping.js";
import { respondWith } from "../../lib/http/response/returned-value.js";
import { compose } from "../../lib/http/compose.js";
import type { Context } from "../../lib/http/request/context.js";
import { FrameworkError } from "../../lib/errors/framework-error.js";
import type { Middleware } from "../../lib/http/middleware.js";
import { Conversation } from "../support/conversation.js";
import { obeysLayerContract } from "../../lib/testing/contracts/obeys-layer-contract.js";
import { errorOf } from "../support/error-of.js";
import { Stack } from "../support/stack.js";
import { until } from "../support/until.js";

const LIMIT = 1000;
const POST = "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n";
const NEXT = "GET /next HTTP/1.1\r\nHost: x\r\n\r\n";

type Handler = (ctx: Context) => unknown;

async function readText(ctx: Context): Promise<string> {
  return `read ${(await ctx.text()).length}`;
}

async function readStream(ctx: Context): Promise<string> {
  let length = 0;
  // Without an encoding the chunks are bytes.
  for await (const chunk of ctx.req) length += (chunk as Buffer).length;
  return `read ${length}`;
}

function readEvents(ctx: Context): Promise<string> {
  return new Promise((resolve, reject) => {
    let length = 0;
    ctx.req.on("data", (chunk: Buffer) => (length += chunk.length));
    ctx.req.on("end", () => resolve(`read ${length}`));
    ctx.req.on("error", reject);
  });
}

async function readLate(ctx: Context): Promise<string> {
  await until(() => ctx.req.complete);
  return readStream(ctx);
}

async function readTwice(ctx: Context): Promise<string> {
  await readStream(ctx).catch(() => {});
  return readText(ctx);
}

function readAndTell(ctx: Context): Promise<string> {
  return readStream(ctx).catch((error: unknown) => `refused: ${String(error)}`);
}

function readNothing(): string {
  return "read nothing";
}

const readers: readonly (readonly [string, Handler])[] = [
  ["ctx.text", readText],
  ["a loop over ctx.req", readStream],
  ["events of ctx.req", readEvents],
];

/** Composes middleware like that of a route, from the outermost to the innermost. */
function routed(middleware: readonly Middleware[], handler: Handler): Handler {
  return compose(middleware, async (ctx) => respondWith(ctx, await handler(ctx)));
}

function chunked(length: number, size = 100): string {
  const chunks = [];
  for (let rest = length; rest > 0; rest -= size) {
    const now = Math.min(size, rest);
    chunks.push(`${now.toString(16)}\r\n${"x".repeat(now)}\r\n`);
  }
  return `${POST}Transfer-Encoding: chunked\r\n\r\n${chunks.join("")}0\r\n\r\n`;
}

function announced(length: number, sent = length): string {
  return `${POST}Content-Length: ${length}\r\n\r\n${"x".repeat(sent)}`;
}

/** The status line and the body of the first response to `bytes`. */
async function answerTo(stack: Stack, bytes: string): Promise<string> {
  await using client = await Conversation.with(stack.port);
  client.say(bytes);
  const text = await client.hear(/^HTTP\/1\.1 \d+ [^]*\r\n\r\n[^]*$/);
  return `${text.slice(9, 12)} ${text.slice(text.indexOf("\r\n\r\n") + 4)}`.trimEnd();
}

describe("BodyLimitLayer", () => {
  it("obeys the layer contract", () =>
    obeysLayerContract(new BodyLimitLayer(3), {
      request: { method: "POST", body: "abc" },
      refused: { method: "POST", body: "abcd" },
    }));

  describe("for a body with a Content-Length", () => {
    for (const [title, read] of readers) {
      it(`admits a body of exactly the limit: ${title}`, async () => {
        await using stack = await Stack.of([new BodyLimitLayer(LIMIT)], read);

        expect(await answerTo(stack, announced(LIMIT))).to.equal("200 read 1000");
      });
    }

    it("responds with 413 and an empty body before the request body arrives, without a call of the handler", async () => {
      let woken = 0;
      await using stack = await Stack.of([new BodyLimitLayer(LIMIT)], () => ++woken);
      await using client = await Conversation.with(stack.port);

      client.say(announced(10_000_000_000, 0));
      const text = await client.end();

      expect(text).to.match(/^HTTP\/1\.1 413 Payload Too Large\r\n/);
      expect(text)
        .to.contain("Content-Length: 0\r\n")
        .and.not.to.match(/Content-Type/i);
      expect(text).to.match(/Connection: close/i);
      expect(woken).to.equal(0);
    });

    it("sends no 100 Continue for a body that it refuses", async () => {
      await using stack = await Stack.of([new BodyLimitLayer(LIMIT)], readText);
      await using client = await Conversation.with(stack.port);

      client.say(`${POST}Expect: 100-continue\r\nContent-Length: 1001\r\n\r\n`);
      const text = await client.end();

      expect(text)
        .to.match(/^HTTP\/1\.1 413 /)
        .and.to.match(/Connection: close/i);
      expect(text).not.to.contain("100 Continue");
    });

    it("sends 100 Continue for an admitted body when it is read", async () => {
      await using stack = await Stack.of([new BodyLimitLayer(LIMIT)], readStream);
      await using client = await Conversation.with(stack.port);

      client.say(`${POST}Expect: 100-continue\r\nContent-Length: 3\r\n\r\n`);
      await client.hear(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
      client.say("abc");

      await client.hear(/read 3$/);
    });

    it("keeps the connection open when the refused body is small, and serves the next request", async () => {
      await using stack = await Stack.of([new BodyLimitLayer(LIMIT)], (ctx) => ctx.path);
      await using client = await Conversation.with(stack.port);

      client.say(announced(5000) + NEXT);
      const text = await client.hear(/\/next$/);

      expect(text)
        .to.match(/^HTTP\/1\.1 413 [^]*HTTP\/1\.1 200 OK/)
        .and.not.to.match(/Connection: close/i);
    });

    it("reads on for a while when the client goes on sending, so that it receives the response", async () => {
      await using stack = await Stack.of([new BodyLimitLayer(LIMIT)], readText);
      await using client = await Conversation.with(stack.port);

      client.say(announced(10_000_000_000, 0));
      for (let sent = 0; sent < 900_000; sent += 10_000) client.say("x".repeat(10_000));
      await client.end();

      expect(client.received).to.match(/^HTTP\/1\.1 413 /);
      expect(client.wasReset).to.equal(false);
    });

    it("gets a problem body from the error mapping outside it", async () => {
      await using stack = await Stack.of([new ErrorMapping(), new BodyLimitLayer(LIMIT)], readText);

      const answer = await stack.ask("/", { method: "POST", body: "x".repeat(LIMIT + 1) });

      expect(answer.headers["content-type"]).to.equal("application/problem+json");
      expect(JSON.parse(answer.text)).to.include({ status: 413, type: "urn:framework:problem:payload-too-large" });
    });
  });

  describe("for a chunked body", () => {
    for (const [title, read] of readers) {
      it(`admits a body of exactly the limit: ${title}`, async () => {
        await using stack = await Stack.of([new BodyLimitLayer(LIMIT)], read);

        expect(await answerTo(stack, chunked(LIMIT))).to.equal("200 read 1000");
      });

      for (const length of [LIMIT + 1, 70_000, 500_000]) {
        it(`gives the reader of ${length} bytes a PayloadTooLargeError, and the client its response: ${title}`, async () => {
          await using stack = await Stack.of([new CatchPanicLayer(), new BodyLimitLayer(LIMIT)], read);
          await using client = await Conversation.with(stack.port);

          client.say(chunked(length));
          const text = await client.end();

          expect(text)
            .to.match(/^HTTP\/1\.1 413 Payload Too Large\r\n/)
            .and.to.match(/Connection: close/i);
          expect(text).to.contain("The request body is larger than 1000 bytes.");
          expect(client.wasReset).to.equal(false);
        });
      }
    }

    it("refuses a reader that starts after the body has arrived", async () => {
      await using stack = await Stack.of([new BodyLimitLayer(LIMIT)], readLate);

      expect(await answerTo(stack, chunked(LIMIT + 1))).to.match(/^413 /);
    });

    it("gives a second reader the same error", async () => {
      await using stack = await Stack.of([new BodyLimitLayer(LIMIT)], readTwice);

      expect(await answerTo(stack, chunked(5000))).to.match(/^413 .*larger than 1000 bytes/);
    });

    it("lets a handler respond with another status", async () => {
      await using stack = await Stack.of([new BodyLimitLayer(LIMIT)], readAndTell);

      expect(await answerTo(stack, chunked(5000))).to.match(/^200 refused: PayloadTooLargeError/);
    });

    it("does not refuse the body when the handler does not read it", async () => {
      await using stack = await Stack.of([new BodyLimitLayer(LIMIT)], readNothing);

      expect(await answerTo(stack, chunked(LIMIT + 1))).to.equal("200 read nothing");
      expect(await answerTo(stack, chunked(300_000))).to.equal("200 read nothing");
    });

    it("takes in no bytes beyond the limit", async () => {
      let seen = 0;
      const handler: Handler = async (ctx) => {
        ctx.req.on("data", (chunk: Buffer) => (seen += chunk.length));
        await readStream(ctx).catch(() => {});
        return new Promise(() => {});
      };
      await using stack = await Stack.of([new BodyLimitLayer(LIMIT)], handler);
      await using client = await Conversation.with(stack.port);

      client.say(`${POST}Transfer-Encoding: chunked\r\n\r\n`);
      for (let sent = 0; sent < 400; sent++) client.say(`10000\r\n${"x".repeat(65_536)}\r\n`);
      await client.quiet(100);

      expect(seen).to.be.at.most(LIMIT);
      expect(client.socket.writableLength).to.be.above(10_000_000);
    });

    const lies: readonly (readonly [string, string])[] = [
      ["a size that is not a number", "zz\r\nabc\r\n0\r\n\r\n"],
      ["a chunk longer than its size", "3\r\nabcdef\r\n0\r\n\r\n"],
      ["a negative size", "-1\r\nabc\r\n0\r\n\r\n"],
      ["a size that is too large", "fffffffffffffffff\r\nabc"],
    ];
    for (const [title, body] of lies) {
      it(`responds to ${title} with 400 and closes the connection`, async () => {
        await using stack = await Stack.of([new BodyLimitLayer(LIMIT)], readStream);
        await using client = await Conversation.with(stack.port);

        client.say(`${POST}Transfer-Encoding: chunked\r\n\r\n${body}`);
        const text = await client.end();

        expect(text).to.match(/^HTTP\/1\.1 400 Bad Request\r\nConnection: close\r\n\r\n$/);
      });
    }

    it("counts the bytes of a chunk, not its announced size", async () => {
      await using stack = await Stack.of([new BodyLimitLayer(LIMIT)], readStream);
      await using client = await Conversation.with(stack.port);

      client.say(`${POST}Transfer-Encoding: chunked\r\n\r\n7fffffff\r\n${"x".repeat(LIMIT + 1)}`);

      await client.hear(/^HTTP\/1\.1 413 /);
    });

    it("ends the reading when the client leaves, at any time", async () => {
      const ends: string[] = [];
      const handler: Handler = (ctx) =>
        readStream(ctx).then(String, (error: FrameworkError) => void ends.push(error.code));
      await using stack = await Stack.of([new BodyLimitLayer(100_000)], handler);
      const whole = chunked(5000);

      for (let cut = POST.length + 30; cut < whole.length - 5; cut += 997) {
        const client = await Conversation.with(stack.port);
        client.say(whole.slice(0, cut));
        await client.quiet(15);
        client.socket.resetAndDestroy();
      }
      while (ends.length < 5) await new Promise(setImmediate);

      expect(new Set(ends)).to.deep.equal(new Set(["ECONNRESET"]));
    });
  });

  for (const [title, framing] of [
    ["two lengths", "Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcde"],
    ["the same length twice", "Content-Length: 5\r\nContent-Length: 5\r\n\r\nabcde"],
    ["a length and chunks", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["a length that is not a number", "Content-Length: 5x\r\n\r\nabcde"],
    ["a negative length", "Content-Length: -5\r\n\r\nabcde"],
    ["a length that is too large", "Content-Length: 99999999999999999999999\r\n\r\nabcde"],
  ] as const) {
    it(`leaves ${title} to the parser, which refuses it`, async () => {
      let woken = 0;
      await using stack = await Stack.of([new BodyLimitLayer(LIMIT)], () => ++woken);
      await using client = await Conversation.with(stack.port);

      client.say(POST + framing);
      const text = await client.end();

      expect(text).to.match(/^HTTP\/1\.1 400 Bad Request\r\nConnection: close\r\n\r\n$/);
      expect(woken).to.equal(0);
    });
  }

  it("admits only empty bodies with a limit of 0", async () => {
    await using stack = await Stack.of([new BodyLimitLayer(0)], readText);

    expect(await answerTo(stack, announced(0))).to.equal("200 read 0");
    expect(await answerTo(stack, announced(1))).to.equal("413");
    expect(await answerTo(stack, chunked(0))).to.equal("200 read 0");
    expect(await answerTo(stack, chunked(1))).to.match(/^413 /);
  });

  it("sets the limit of the readers, also above their own default", async () => {
    const large = 3_000_000;
    await using stack = await Stack.of([new BodyLimitLayer(large)], readText);
    const post = { method: "POST", headers: { "content-type": "text/plain" } };

    const fits = await stack.ask("/", { ...post, body: "x".repeat(large) });
    const tooLong = await stack.ask("/", { ...post, body: "x".repeat(large + 1) });

    expect([fits.text, tooLong.status]).to.deep.equal(["read 3000000", 413]);
  });

  describe("on a route", () => {
    const rows: readonly (readonly [string, readonly Middleware[], readonly Middleware[], number])[] = [
      ["without a stage", [], [new BodyLimitLayer(500)], 500],
      ["less than the stage's", [new BodyLimitLayer(1000)], [new BodyLimitLayer(500)], 500],
      ["more than the stage's, without a cap", [new BodyLimitLayer(1000)], [new BodyLimitLayer(5000)], 1000],
      ["more, within the cap", [new BodyLimitLayer(1000, { cap: 8000 })], [new BodyLimitLayer(5000)], 5000],
      ["more than the cap", [new BodyLimitLayer(1000, { cap: 8000 })], [new BodyLimitLayer(9000)], 8000],
      ["none, where the stage has a cap", [new BodyLimitLayer(1000, { cap: 8000 })], [], 1000],
      [
        "more than its group's",
        [new BodyLimitLayer(1000, { cap: 8000 })],
        [new BodyLimitLayer(500), new BodyLimitLayer(5000)],
        500,
      ],
      [
        "less than its group's, which is more than the stage's",
        [new BodyLimitLayer(1000, { cap: 8000 })],
        [new BodyLimitLayer(5000), new BodyLimitLayer(2000)],
        2000,
      ],
      [
        "its own cap, which has no effect",
        [new BodyLimitLayer(1000)],
        [new BodyLimitLayer(500, { cap: 9000 }), new BodyLimitLayer(9000)],
        500,
      ],
    ];
    for (const [title, stage, route, limit] of rows) {
      for (const [reader, read] of [
        ["ctx.text", readText],
        ["ctx.req", readStream],
      ] as const) {
        it(`has the limit ${limit} for ${reader}: ${title}`, async () => {
          await using stack = await Stack.of(stage, routed(route, read));

          expect(await answerTo(stack, announced(limit))).to.equal(`200 read ${limit}`);
          expect(await answerTo(stack, chunked(limit))).to.equal(`200 read ${limit}`);
          expect(await answerTo(stack, announced(limit + 1))).to.match(/^413/);
          expect(await answerTo(stack, chunked(limit + 1))).to.match(/^413/);
        });
      }
    }

    it("refuses a body that outer middleware has read within a larger limit", async () => {
      const csrf: Middleware = {
        handle: async (ctx, next) => {
          await ctx.text();
          await next();
        },
      };
      const stages = [new BodyLimitLayer(1000), csrf];
      await using stack = await Stack.of(stages, routed([new BodyLimitLayer(500)], readText));

      expect(await answerTo(stack, chunked(500))).to.equal("200 read 500");
      expect(await answerTo(stack, chunked(501))).to.equal("413");
    });
  });

  for (const [bytes, cap] of [
    [-1, undefined],
    [0.5, undefined],
    [Number.NaN, undefined],
    [Number.POSITIVE_INFINITY, undefined],
    [1000, 999],
    [1000, 1000.5],
    [1000, Number.NaN],
  ] as const) {
    it(`refuses a limit of ${bytes} with a cap of ${cap}`, () => {
      const error = errorOf(() => new BodyLimitLayer(bytes, cap === undefined ? {} : { cap }));

      expect(error).to.be.instanceOf(FrameworkError).with.property("code", "E_BODY_LIMIT");
      expect(error.message).to.contain(String(cap ?? bytes));
    });
  }
});
