import { once } from "node:events";
import { PassThrough, Readable, Stream, Writable } from "node:stream";
import { createBrotliDecompress, createGunzip } from "node:zlib";
import http from "node:http";
import { expect } from "chai";
import { CompressionLayer } from "../../../lib/stages/compression.js";
import type { Context } from "../../../lib/http/request/context.js";
import { respondWithReturned } from "../../../lib/http/response/returned-value.js";
import type { Middleware } from "../../../lib/http/middleware.js";
import { Reply } from "../../../lib/http/response/reply.js";
import { FakeClock } from "../../../lib/testing/fake-clock.js";
import { Conversation } from "../../support/conversation.js";
import { eventsOf } from "../../support/events-of.js";
import { Stack } from "../../support/stack.js";
import { until } from "../../support/until.js";

type Handler = (ctx: Context) => unknown;

/** Responds as the handler of a route does: the head waits a short time for the first chunk. */
function returned(handler: Handler): Handler {
  return (ctx) => respondWithReturned(ctx, handler(ctx));
}

/** A text, which is worth compressing. */
function asText(handler: Handler): Handler {
  return returned((ctx) => {
    ctx.type = "text/plain";
    return handler(ctx);
  });
}

/** A stream as in Node before `read`: it has no properties for its state. Streams of other copies of the package lie in between. */
class OldStream extends Stream {
  readonly readable = true;
  wasDestroyed = false;

  constructor(private readonly chunks: readonly unknown[]) {
    super();
  }

  override pipe<T extends NodeJS.WritableStream>(target: T, options?: { end?: boolean }): T {
    setImmediate(() => this.give());
    return super.pipe(target, options);
  }

  destroy(): void {
    this.wasDestroyed = true;
  }

  private give(): void {
    for (const chunk of this.chunks) {
      if (chunk instanceof Error) return void this.emit("error", chunk);
      this.emit("data", chunk);
    }
    this.emit("end");
    this.emit("close");
  }
}

const WAYS: readonly (readonly [string, string, () => readonly Middleware[]])[] = [
  ["as it is", "identity", () => []],
  ["as gzip", "gzip", () => [new CompressionLayer()]],
  ["as br", "br", () => [new CompressionLayer()]],
  ["as it is, past the compression", "identity", () => [new CompressionLayer()]],
];

function get(coding: string): string {
  return `GET / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: ${coding}\r\n\r\n`;
}

function decoded(response: http.IncomingMessage): Readable {
  const coding = response.headers["content-encoding"];
  if (coding === "br") return response.pipe(createBrotliDecompress());
  return coding === "gzip" ? response.pipe(createGunzip()) : response;
}

/** Returns the decoded body. */
async function getDecodedText(stack: Stack, coding: string): Promise<string> {
  const request = http.get(stack.url, { agent: false, headers: { "accept-encoding": coding } });
  // The event's one argument, by Node's documentation.
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  let text = "";
  for await (const chunk of decoded(response)) text += String(chunk);
  return text;
}

for (const [way, coding, layers] of WAYS) {
  describe(`a body that is a stream, sent ${way},`, () => {
    for (const [what, chunk] of [
      ["an object", { a: 1 }],
      ["a number", 3],
      ["undefined", undefined],
    ] as const) {
      it(`is cut if ${what} comes after the first chunk, and the server goes on`, async () => {
        const source = new Readable({ objectMode: true, read() {} });
        const events = await eventsOf(async () => {
          const handler = asText((ctx) => (ctx.path === "/next" ? "fine" : source));
          await using stack = await Stack.of(layers(), handler);
          await using client = await Conversation.with(stack.port);
          source.push("ok");
          client.say(get(coding));
          await client.hear(/\r\n\r\n.*\r\n/s);

          source.push(chunk);
          const said = await client.end();
          const next = await stack.ask("/next");

          expect(said).to.match(/^HTTP\/1\.1 200 /);
          expect(said).not.to.match(/\r\n0\r\n\r\n$/);
          expect(next.text).to.equal("fine");
        });

        const errors = events.filter((line) => line.startsWith("ERROR"));
        expect(errors).to.have.length(1);
        expect(errors[0]).to.match(
          /^ERROR framework::http::send: response failed error=TypeError: .*neither text nor bytes/,
        );
        expect(source.destroyed).to.equal(true);
      });
    }

    it("is cut if its first chunk comes after the head and cannot be sent", async () => {
      const clock = new FakeClock();
      const source = new PassThrough({ objectMode: true });
      await using stack = await Stack.of(
        layers(),
        asText(() => source),
        clock,
      );
      await using client = await Conversation.with(stack.port);
      client.say(get(coding));
      await until(() => clock.pending === 1);
      clock.advance(100);
      await client.hear(/\r\n\r\n/);

      source.write({ a: 1 });
      const said = await client.end();

      expect(said).not.to.match(/\r\n0\r\n\r\n$/);
    });

    for (const [what, given] of [
      ["texts", ["ab", "cd"]],
      ["bytes", [new Uint8Array([97, 98]), Buffer.from("cd")]],
    ] as const) {
      it(`arrives whole from a stream of Node's old kind, of ${what}`, async () => {
        await using stack = await Stack.of(
          layers(),
          asText(() => new OldStream(given)),
        );

        expect(await getDecodedText(stack, coding)).to.equal("abcd");
      });
    }

    it("arrives whole if a stream of Node's old kind is put on the context", async () => {
      await using stack = await Stack.of(layers(), (ctx) => onContext(new OldStream(["ab", "cd"]))(ctx));

      expect(await getDecodedText(stack, coding)).to.equal("abcd");
    });

    for (const [what, chunk] of [
      ["fails", new Error("canary")],
      ["gives an object", { a: 1 }],
    ] as const) {
      it(`is a 500 if a stream of Node's old kind ${what} before its first byte`, async () => {
        await using stack = await Stack.of(
          layers(),
          asText(() => new OldStream([chunk])),
        );

        const response = await stack.ask("/", { headers: { "accept-encoding": coding } });

        expect(response.status).to.equal(500);
        expect(response.text).not.to.contain("canary");
      });
    }

    it("is a 500 if a stream of Node's old kind was destroyed before", async () => {
      const source = Object.assign(new OldStream([]), { destroyed: true });
      source.pipe = (target) => target;
      await using stack = await Stack.of(
        layers(),
        asText(() => source),
        new FakeClock(),
      );

      const response = await stack.ask("/", { headers: { "accept-encoding": coding } });

      expect(response.status).to.equal(500);
    });

    it("is cut if a stream of Node's old kind fails while a stage still waits", async () => {
      const source = new OldStream([]);
      source.pipe = (target) => target;
      const failing: Middleware = {
        handle: async (_ctx, next) => {
          await next();
          source.emit("error", new Error("canary"));
        },
      };
      await using stack = await Stack.of([...layers(), failing], onContext(source));
      await using client = await Conversation.with(stack.port);

      const said = await client.say(get(coding)).end();

      expect(said).not.to.match(/\r\n0\r\n\r\n$/);
    });

    it("destroys a stream of Node's old kind when the client leaves", async () => {
      const source = new OldStream([]);
      source.pipe = (target) => target;
      const clock = new FakeClock();
      await using stack = await Stack.of(
        layers(),
        asText(() => source),
        clock,
      );
      {
        await using client = await Conversation.with(stack.port);
        client.say(get(coding));
        await until(() => clock.pending === 1);
        clock.advance(100);
        await client.hear(/\r\n\r\n/);
      }

      await until(() => source.wasDestroyed);
    });

    for (const [where, around] of [
      ["further in", (stages: readonly Middleware[], waiting: Middleware) => [...stages, waiting]],
      ["further out", (stages: readonly Middleware[], waiting: Middleware) => [waiting, ...stages]],
    ] as const) {
      for (const [what, objectMode, handler] of [
        ["a stream that was returned", false, (source: Readable) => asText(() => source)],
        ["a stream of objects that was returned", true, (source: Readable) => asText(() => source)],
        ["a stream on the context", false, (source: Readable) => onContext(source)],
        ["a stream of objects on the context", true, (source: Readable) => onContext(source)],
        ["a web stream on the context", false, (source: Readable) => onContext(asWeb(source))],
      ] as const) {
        it(`is cut if ${what} fails while a stage ${where} still waits, and one event reports it`, async () => {
          const source = new PassThrough({ objectMode });
          source.write("first");
          const events = await eventsOf(async () => {
            await using stack = await Stack.of(around(layers(), whileWaiting(source)), handler(source));
            await using client = await Conversation.with(stack.port);
            client.say(get(coding));

            const said = await client.end();

            expect(said).to.match(/^HTTP\/1\.1 200 /);
            expect(said).not.to.match(/\r\n0\r\n\r\n$/);
          });

          const errors = events.filter((line) => line.startsWith("ERROR"));
          expect(errors).to.deep.equal(["ERROR framework::http::send: response failed error=Error: canary status=200"]);
        });
      }
    }

    for (const [how, handler] of [
      ["returned", returned(() => unread())],
      ["put on the context", (ctx: Context) => void (ctx.body = unread())],
    ] as const) {
      for (const method of ["GET", "HEAD"]) {
        it(`is a 500 to ${method} if a writable stream was ${how}`, async () => {
          const events = await eventsOf(async () => {
            await using stack = await Stack.of(layers(), handler);

            const response = await stack.ask("/", { method, headers: { "accept-encoding": coding } });

            expect(response.status).to.equal(500);
          });

          expect(events.filter((line) => line.startsWith("ERROR")).join()).to.contain("can only be written to");
        });
      }
    }
  });
}

function onContext(source: unknown): Handler {
  return (ctx) => {
    ctx.type = "text/plain";
    ctx.body = source;
  };
}

/** A stream that fails when `source` fails, also while it is not read. */
function asWeb(source: Readable): ReadableStream {
  return new ReadableStream({
    start: (controller) => void source.once("error", (error) => controller.error(error)),
  });
}

/** A stage that waits while the body fails. */
function whileWaiting(source: Readable): Middleware {
  return {
    handle: async (_ctx, next) => {
      await next();
      const closed = new Promise((resolve) => source.once("close", resolve));
      source.destroy(new Error("canary"));
      await closed;
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

function unread(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}

describe("a stream of objects that is not sent", () => {
  for (const [what, asked] of [
    ["HEAD", { method: "HEAD" }],
    ["a 304", { headers: { "if-none-match": "*" } }],
  ] as const) {
    it(`is destroyed unread for ${what}`, async () => {
      let reads = 0;
      const source = new Readable({ objectMode: true, read: () => void (reads += 1) });
      const handler = (ctx: Context): void => {
        ctx.body = source;
        if (ctx.get("if-none-match") !== "") ctx.res.statusCode = 304;
      };
      await using stack = await Stack.of([], handler);

      await stack.ask("/", asked);

      expect([source.destroyed, reads]).to.deep.equal([true, 0]);
    });
  }
});

/** Resolves with the head of a response, before its body. */
async function readHead(stack: Stack): Promise<string> {
  await using client = await Conversation.with(stack.port);
  return await client.say(get("br")).hear(/\r\n\r\n/);
}

describe("the head of a stream", () => {
  it("is sent with the first chunk, after 100 ms at most", async () => {
    const clock = new FakeClock();
    await using stack = await Stack.of(
      [],
      returned(() => new PassThrough()),
      clock,
    );

    const asking = readHead(stack);
    await until(() => clock.pending === 1);
    await clock.advanceAsync(99);
    const pending = clock.pending;
    clock.advance(1);
    const head = await asking;

    expect(pending).to.equal(1);
    expect(head).to.match(/^HTTP\/1\.1 200 /);
  });

  const eventStreams: readonly (readonly [string, (ctx: Context, source: Readable) => unknown])[] = [
    ["a reply", (_ctx, source) => Reply.of(source, "text/event-stream")],
    [
      "a reply, in capitals and with a parameter",
      (_ctx, source) => Reply.of(source, "Text/Event-Stream; charset=utf-8"),
    ],
    ["ctx.type", (ctx, source) => ((ctx.type = "text/event-stream"), source)],
    ["a header, in capitals", (ctx, source) => (ctx.set("Content-Type", "TEXT/EVENT-STREAM"), source)],
    [
      "a fetch Response",
      () => new Response(new ReadableStream(), { headers: { "content-type": "text/event-stream" } }),
    ],
  ];
  for (const [how, handler] of eventStreams) {
    it(`does not wait if ${how} makes it an event stream`, async () => {
      const clock = new FakeClock();
      await using stack = await Stack.of(
        [],
        returned((ctx) => handler(ctx, new PassThrough())),
        clock,
      );

      const head = await readHead(stack);

      expect(head)
        .to.match(/^HTTP\/1\.1 200 /)
        .and.to.match(/content-type: text\/event-stream/i);
    });
  }
});
