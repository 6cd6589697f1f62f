import { once } from "node:events";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { CatchPanicLayer } from "../../lib/stages/catch-panic.js";
import { ErrorMapping } from "../../lib/stages/error-mapping.js";
import { TimeoutLayer } from "../../lib/stages/timeout.js";
import { respondWith, respondWithReturned } from "../../lib/http/response/returned-value.js";
import { compose } from "../../lib/http/compose.js";
import type { Context } from "../../lib/http/request/context.js";
import { FrameworkError } from "../../lib/errors/framework-error.js";
import type { Middleware } from "../../lib/http/middleware.js";
import { Reply } from "../../lib/http/response/reply.js";
import { NO_ROUTES, RedirectMapperLayer } from "../../lib/stages/redirects/redirect-mapper.js";
import { redirect } from "../../lib/stages/redirects/redirect.js";
import { FakeClock } from "../../lib/testing/fake-clock.js";
import { eventsOf } from "../support/events-of.js";
import { Conversation } from "../support/conversation.js";
import { obeysLayerContract } from "../../lib/testing/contracts/obeys-layer-contract.js";
import { errorOf } from "../support/error-of.js";
import { Stack } from "../support/stack.js";
import { until } from "../support/until.js";

/** Something a handler waits for until the test lets it go on. */
class Hold {
  private open: () => void = () => {};
  private enter: () => void = () => {};
  readonly opened = new Promise<void>((resolve) => {
    this.open = resolve;
  });
  /** Someone waits. */
  readonly entered = new Promise<void>((resolve) => {
    this.enter = resolve;
  });

  wait(): Promise<void> {
    this.enter();
    return this.opened;
  }

  /** Lets the handler go on, and waits for its immediate effects. */
  async release(): Promise<void> {
    this.open();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The framework passes only errors. */
function reasonOf(signal: AbortSignal): Error {
  return signal.reason as Error;
}

/** The event of the timeout itself is INFO. */
function isUnexpected(line: string): boolean {
  return !/^(?:DEBUG|INFO) /.test(line);
}

/** As a route's middleware stands: inside the stage. */
function routed(limitMs: number, handler: (ctx: Context) => unknown): (ctx: Context) => unknown {
  return compose([new TimeoutLayer(limitMs)], async (ctx) => respondWith(ctx, await handler(ctx)));
}

/** A stage that is at work after the handler. */
function heldAfterwards(hold: Hold): Middleware {
  return {
    handle: async (_ctx, next) => {
      await next();
      await hold.wait();
    },
  };
}

function setBefore(ctx: Context, next: () => Promise<void>): Promise<void> {
  ctx.set("X-Before", "stays");
  return next();
}

describe("TimeoutLayer", () => {
  it("obeys the layer contract", () => obeysLayerContract(new TimeoutLayer(60_000)));

  it("responds with 408, an empty body and no type as soon as the time is over", async () => {
    const clock = new FakeClock();
    const hold = new Hold();
    await using stack = await Stack.of([new TimeoutLayer(5000)], () => hold.wait(), clock);

    const asking = stack.ask();
    await hold.entered;
    clock.advance(5000);
    const answer = await asking;
    await hold.release();

    expect(answer.status).to.equal(408);
    expect(answer.body).to.have.length(0);
    expect(answer.headers["content-length"]).to.equal("0");
    expect(answer.headers).not.to.have.any.keys("content-type");
  });

  it("does not change a response that is sent just in time", async () => {
    const clock = new FakeClock();
    const hold = new Hold();
    const handler = async (): Promise<string> => hold.wait().then(() => "in time");
    await using stack = await Stack.of([new TimeoutLayer(5000)], handler, clock);

    const asking = stack.ask();
    await hold.entered;
    clock.advance(4999);
    await hold.release();
    const answer = await asking;
    clock.advance(10_000);

    expect([answer.status, answer.text]).to.deep.equal([200, "in time"]);
    expect((await stack.ask()).status).to.equal(200);
    expect(clock.pending).to.equal(1);
  });

  it("sets no timer for a request that waits for nothing", async () => {
    const clock = new FakeClock();
    const chain = compose([new TimeoutLayer(5000)], (ctx) => respondWith(ctx, "at once"));
    await using stack = await Stack.of([], (ctx) => chain(ctx), clock);

    expect((await stack.ask()).text).to.equal("at once");
    expect(clock.pending).to.equal(0);
  });

  it("aborts the signal with E_TIMEOUT, once the response cannot be changed any more", async () => {
    const clock = new FakeClock();
    const hold = new Hold();
    let reason: unknown;
    const handler = (ctx: Context): Promise<void> => {
      ctx.signal.addEventListener("abort", () => {
        reason = ctx.signal.reason;
        ctx.status = 200;
        ctx.body = "too late";
      });
      return hold.wait();
    };
    await using stack = await Stack.of([new TimeoutLayer(5000)], handler, clock);

    const asking = stack.ask();
    await hold.entered;
    clock.advance(5000);
    const answer = await asking;

    expect([answer.status, answer.text]).to.deep.equal([408, ""]);
    expect(reason).to.be.instanceOf(FrameworkError).with.property("code", "E_TIMEOUT");
    expect(reason).to.have.property("status", 408);
  });

  it("responds with the head in its state at the arrival of the request", async () => {
    const clock = new FakeClock();
    const hold = new Hold();
    const handler = (ctx: Context): Promise<void> => {
      ctx.set("X-Before", "changed");
      ctx.set("X-Half-Made", "1");
      ctx.cookies.set("half", "made");
      ctx.type = "text/html";
      ctx.status = 201;
      ctx.body = Readable.from(["half"]);
      return hold.wait();
    };
    await using stack = await Stack.of([{ handle: setBefore }, new TimeoutLayer(5000)], handler, clock);

    const asking = stack.ask();
    await hold.entered;
    clock.advance(5000);
    const { status, headers } = await asking;

    expect(status).to.equal(408);
    expect(headers["x-before"]).to.equal("stays");
    expect(headers).not.to.have.any.keys("x-half-made", "set-cookie", "content-type");
  });

  it("has its 408 turned into a problem by the error mapping outside it", async () => {
    const clock = new FakeClock();
    const hold = new Hold();
    await using stack = await Stack.of([new ErrorMapping(), new TimeoutLayer(5000)], () => hold.wait(), clock);

    const asking = stack.ask();
    await hold.entered;
    clock.advance(5000);
    const answer = await asking;

    expect(answer.headers["content-type"]).to.equal("application/problem+json");
    expect(JSON.parse(answer.text)).to.include({ status: 408, type: "urn:framework:problem:timeout" });
  });

  it("includes the time for reading the body: a client that sends a byte now and then gets 408, and its connection ends", async () => {
    const clock = new FakeClock();
    let reading = false;
    const handler = (ctx: Context): Promise<string> => {
      reading = true;
      return ctx.text();
    };
    await using stack = await Stack.of([new TimeoutLayer(5000)], handler, clock);

    await using client = await Conversation.with(stack.port);
    client.say("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\na");
    await until(() => reading);
    client.say("b");
    clock.advance(5000);
    const said = await client.end();

    expect(said).to.match(/^HTTP\/1\.1 408 /);
    expect(said)
      .to.contain("Connection: close\r\n")
      .and.to.match(/\r\n\r\n$/);
  });

  it("does not limit a body that streams already", async () => {
    const clock = new FakeClock();
    const hold = new Hold();
    async function* slowly(): AsyncGenerator<string> {
      yield "first ";
      await hold.wait();
      yield "second";
    }
    await using stack = await Stack.of([new TimeoutLayer(5000)], () => Readable.from(slowly()), clock);

    const asking = stack.ask();
    await hold.entered;
    clock.advance(60_000);
    await hold.release();
    const answer = await asking;

    expect([answer.status, answer.text]).to.deep.equal([200, "first second"]);
  });

  describe("for a stream that was returned in time", () => {
    it("waits for the first chunk, even if it comes after the deadline", async () => {
      const clock = new FakeClock();
      const hold = new Hold();
      const source = new PassThrough();
      const events = await eventsOf(async () => {
        const handler = (ctx: Context): Promise<void> => hold.wait().then(() => respondWithReturned(ctx, source));
        await using stack = await Stack.of([new TimeoutLayer(5000)], handler, clock);
        const asking = stack.ask();
        await hold.entered;
        clock.advance(4999);
        await hold.release();

        clock.advance(50);
        source.end("at last");
        const answer = await asking;

        expect([answer.status, answer.text]).to.deep.equal([200, "at last"]);
      });

      expect(events.filter(isUnexpected)).to.deep.equal([]);
    });

    it("limits the work after the stream", async () => {
      const clock = new FakeClock();
      const source = new PassThrough();
      const hold = new Hold();
      const layers = [new TimeoutLayer(5000), heldAfterwards(hold)];
      await using stack = await Stack.of(layers, (ctx) => respondWithReturned(ctx, source), clock);

      const asking = stack.ask();
      await until(() => clock.pending === 2);
      clock.advance(100);
      await hold.entered;
      clock.advance(4900);

      expect((await asking).status).to.equal(408);
    });
  });

  describe("after its response", () => {
    const late: readonly (readonly [string, (ctx: Context) => unknown])[] = [
      ["a value", () => "late"],
      ["a reply with headers", () => Reply.text("late", 201).header("X-Late", "1")],
      [
        "a write to the context",
        (ctx) => {
          ctx.status = 201;
          ctx.set("X-Late", "1");
          ctx.body = { late: true };
        },
      ],
    ];
    for (const [title, result] of late) {
      it(`drops ${title}, without a log line`, async () => {
        const clock = new FakeClock();
        const hold = new Hold();
        const events = await eventsOf(async () => {
          const handler = (ctx: Context): Promise<unknown> => hold.wait().then(() => result(ctx));
          await using stack = await Stack.of([new TimeoutLayer(5000)], handler, clock);
          const asking = stack.ask();
          await hold.entered;
          clock.advance(5000);
          const answer = await asking;
          await hold.release();

          expect([answer.status, answer.text]).to.deep.equal([408, ""]);
          expect(answer.headers).not.to.have.any.keys("x-late");
        });

        expect(events.filter(isUnexpected)).to.deep.equal([]);
      });
    }

    const bodies: readonly (readonly [string, (stream: Readable, ctx: Context) => unknown])[] = [
      ["a stream", (stream) => stream],
      ["a reply with a stream", (stream) => Reply.of(stream)],
      [
        "a stream on the context",
        (stream, ctx) => {
          ctx.body = stream;
        },
      ],
      ["a fetch response", (stream) => new Response(Readable.toWeb(stream) as ReadableStream)],
      ["a web stream", (stream) => Readable.toWeb(stream)],
    ];
    for (const [title, wrap] of bodies) {
      it(`closes ${title}`, async () => {
        const clock = new FakeClock();
        const hold = new Hold();
        const stream = new Readable({ read() {} });
        const handler = (ctx: Context): Promise<unknown> => hold.wait().then(() => wrap(stream, ctx));
        await using stack = await Stack.of([new TimeoutLayer(5000)], handler, clock);

        const asking = stack.ask();
        await hold.entered;
        clock.advance(5000);
        await asking;
        await hold.release();
        await until(() => stream.destroyed);
      });
    }

    const mapper = new RedirectMapperLayer({ routes: NO_ROUTES, origin: "https://shop.example" });
    for (const [where, order] of [
      ["inside", (limit, after) => [limit, mapper, after]],
      ["outside", (limit, after) => [mapper, limit, after]],
    ] as readonly (readonly [string, (limit: Middleware, after: Middleware) => readonly Middleware[]])[]) {
      it(`drops a redirect that was returned in time, with the stage that resolves it ${where}`, async () => {
        const clock = new FakeClock();
        const hold = new Hold();
        const layers = order(new TimeoutLayer(5000), heldAfterwards(hold));
        await using stack = await Stack.of(layers, () => redirect().to("/elsewhere"), clock);

        const asking = stack.ask();
        await hold.entered;
        clock.advance(5000);
        const answer = await asking;
        await hold.release();

        expect(answer.status).to.equal(408);
        expect(answer.headers).not.to.have.property("location");
      });
    }

    for (const [title, thrown] of [
      ["an error with a status", new FrameworkError("late", { status: 422 })],
      ["a panic", new TypeError("late")],
      ["anything at all", "late"],
    ] as const) {
      it(`reports ${title} once`, async () => {
        const clock = new FakeClock();
        const hold = new Hold();
        const events = await eventsOf(async () => {
          const handler = (): Promise<never> => hold.wait().then(() => Promise.reject(thrown));
          await using stack = await Stack.of([new CatchPanicLayer(), new TimeoutLayer(5000)], handler, clock);
          const asking = stack.ask();
          await hold.entered;
          clock.advance(5000);
          expect((await asking).status).to.equal(408);
          await hold.release();
        });

        const told = events.filter(isUnexpected);
        expect(told).to.have.length(1);
        expect(told[0]).to.match(/^WARN framework::http::timeout: late failure error=.*late/);
      });
    }
  });

  const HANDED_ON: readonly (readonly [title: string, work: (ctx: Context) => Promise<unknown>])[] = [
    ["the signal's reason", ({ signal }) => once(signal, "abort").then(() => Promise.reject(reasonOf(signal)))],
    ["what Node's functions make of the signal", ({ signal }) => setTimeout(60_000, undefined, { signal })],
    ["that the body is read no further", (ctx) => ctx.text()],
    ["that the stream of the body is destroyed", ({ req }) => text(req)],
  ];
  for (const [title, work] of HANDED_ON) {
    it(`reports nothing where the handler only passes on ${title}`, async () => {
      const clock = new FakeClock();
      const [begun, over] = [new Hold(), new Hold()];
      const events = await eventsOf(async () => {
        const handler = (ctx: Context): Promise<unknown> => {
          void begun.wait();
          return work(ctx).finally(() => void over.wait());
        };
        await using stack = await Stack.of([new TimeoutLayer(5000)], handler, clock);
        await using client = await Conversation.with(stack.port);
        client.say("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\na");
        await begun.entered;
        clock.advance(5000);
        expect(await client.end()).to.match(/^HTTP\/1\.1 408 /);
        await over.entered;
        await over.release();
      });

      expect(events.filter(isUnexpected)).to.deep.equal([]);
    });
  }

  it("passes on an error that was thrown in time", async () => {
    await using stack = await Stack.of([new CatchPanicLayer(), new TimeoutLayer(5000)], () =>
      Promise.reject(new TypeError("broken")),
    );

    expect((await stack.ask()).status).to.equal(500);
  });

  it("ends the connection, and logs it, where the head was sent by hand and the rest does not come", async () => {
    const clock = new FakeClock();
    const hold = new Hold();
    const events = await eventsOf(async () => {
      const handler = (ctx: Context): Promise<void> => {
        ctx.res.writeHead(200, { "Content-Type": "text/plain" });
        ctx.res.write("half");
        return hold.wait();
      };
      await using stack = await Stack.of([new TimeoutLayer(5000)], handler, clock);
      await using client = await Conversation.with(stack.port);
      client.say("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
      await hold.entered;
      clock.advance(5000);
      const said = await client.end();

      expect(said)
        .to.match(/^HTTP\/1\.1 200 /)
        .and.to.contain("half");
      expect(said).not.to.contain("0\r\n\r\n");
    });

    expect(events.filter(isUnexpected)).to.have.length(1);
    expect(events.join("\n")).to.contain("ERROR framework::http::timeout: response failed");
  });

  it("does not change a response that was finished by hand, while the handler goes on", async () => {
    const clock = new FakeClock();
    const hold = new Hold();
    const events = await eventsOf(async () => {
      const handler = (ctx: Context): Promise<void> => {
        ctx.res.end("whole");
        return hold.wait();
      };
      await using stack = await Stack.of([new TimeoutLayer(5000)], handler, clock);
      const asking = stack.ask();
      await hold.entered;
      clock.advance(5000);

      expect((await asking).text).to.equal("whole");
    });

    expect(events.filter(isUnexpected)).to.deep.equal([]);
  });

  it("responds where the handler announced a response by hand, and sent none", async () => {
    const clock = new FakeClock();
    const hold = new Hold();
    const handler = (ctx: Context): Promise<void> => {
      ctx.respond = false;
      return hold.wait();
    };
    await using stack = await Stack.of([new TimeoutLayer(5000)], handler, clock);

    const asking = stack.ask();
    await hold.entered;
    clock.advance(5000);

    expect((await asking).status).to.equal(408);
  });

  it("has no effect after the client has left", async () => {
    const clock = new FakeClock();
    const hold = new Hold();
    let reason: unknown;
    const handler = (ctx: Context): Promise<void> => {
      ctx.signal.addEventListener("abort", () => (reason = ctx.signal.reason));
      return hold.wait();
    };
    const events = await eventsOf(async () => {
      await using stack = await Stack.of([new TimeoutLayer(5000)], handler, clock);
      const leaving = new AbortController();
      const asking = fetch(stack.url, { signal: leaving.signal }).catch(() => "left");
      await hold.entered;
      leaving.abort();
      await asking;
      await until(() => reason !== undefined);
      clock.advance(5000);
      await hold.release();
    });

    expect(reason).to.have.property("code", "E_CLIENT_GONE");
    expect(events.filter(isUnexpected)).to.deep.equal([]);
  });

  describe("on a route", () => {
    it("replaces a longer time of the stage", async () => {
      const clock = new FakeClock();
      const hold = new Hold();
      await using stack = await Stack.of(
        [new TimeoutLayer(30_000)],
        routed(5000, () => hold.wait()),
        clock,
      );

      const asking = stack.ask();
      await hold.entered;
      clock.advance(5000);

      expect((await asking).status).to.equal(408);
    });

    it("replaces a shorter time of the stage", async () => {
      const clock = new FakeClock();
      const hold = new Hold();
      const handler = routed(30_000, () => hold.wait().then(() => "at last"));
      await using stack = await Stack.of([new TimeoutLayer(5000)], handler, clock);

      const asking = stack.ask();
      await hold.entered;
      clock.advance(29_999);
      await hold.release();
      const answer = await asking;

      expect([answer.status, answer.text]).to.deep.equal([200, "at last"]);
    });

    it("ends the request at the time of the route, where that of the stage would have ended sooner", async () => {
      const clock = new FakeClock();
      const hold = new Hold();
      await using stack = await Stack.of(
        [new TimeoutLayer(5000)],
        routed(12_000, () => hold.wait()),
        clock,
      );

      const asking = stack.ask();
      await hold.entered;
      await clock.advanceAsync(11_999);
      const late = await Promise.race([asking, Promise.resolve("still waiting")]);
      clock.advance(1);

      expect(late).to.equal("still waiting");
      expect((await asking).status).to.equal(408);
    });

    it("leaves the work after the route's middleware to the time of the stage", async () => {
      const clock = new FakeClock();
      const hold = new Hold();
      await using stack = await Stack.of(
        [new TimeoutLayer(5000), heldAfterwards(hold)],
        routed(60_000, () => "done"),
        clock,
      );

      const asking = stack.ask();
      await hold.entered;
      clock.advance(5000);

      expect((await asking).status).to.equal(408);
    });
  });

  for (const status of [200, 500, "503"]) {
    it(`refuses the status ${JSON.stringify(status)}`, () => {
      const error = errorOf(() => new TimeoutLayer(1000, { status: status as 503 }));

      expect(error).to.be.instanceOf(FrameworkError).with.property("code", "E_TIMEOUT_SETTING");
      expect(error.message).to.contain("use 408 or 503");
    });
  }

  for (const ms of [0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31]) {
    it(`refuses a time of ${ms} ms`, () => {
      const error = errorOf(() => new TimeoutLayer(ms));

      expect(error).to.be.instanceOf(FrameworkError).with.property("code", "E_TIMEOUT_SETTING");
      expect(error.message).to.contain(String(ms));
    });
  }
});
