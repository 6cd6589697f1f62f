import { createHash } from "node:crypto";
import net from "node:net";
import { expect } from "chai";
import { RateLimit } from "../../../lib/stages/rate-limit/rate-limit.js";
import { TimeoutLayer } from "../../../lib/stages/timeout.js";
import type { RateLimitKey } from "../../../lib/stages/rate-limit/client-key.js";
import { CatchPanicLayer } from "../../../lib/stages/catch-panic.js";
import { compose } from "../../../lib/http/compose.js";
import type { Context } from "../../../lib/http/request/context.js";
import { FrameworkError, NotFoundError } from "../../../lib/errors/framework-error.js";
import type { Middleware } from "../../../lib/http/middleware.js";
import { Reply } from "../../../lib/http/response/reply.js";
import { FakeClock } from "../../../lib/testing/fake-clock.js";
import type { Cache } from "../../../lib/cache/cache.js";
import { obeysLayerContract } from "../../../lib/testing/contracts/obeys-layer-contract.js";
import { errorOf } from "../../support/error-of.js";
import { Gate } from "../../support/gate.js";
import { ScriptedCache } from "../../support/scripted-cache.js";
import { Stack, type ReceivedResponse } from "../../support/stack.js";
import { until } from "../../support/until.js";

function statusesOf(answers: readonly ReceivedResponse[]): number[] {
  return answers.map(({ status }) => status);
}

function limitsOf({ headers }: ReceivedResponse): unknown[] {
  return ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"].map((name) => headers[name]);
}

async function askEach(stack: Stack, headers: readonly Record<string, string>[]): Promise<ReceivedResponse[]> {
  const answers: ReceivedResponse[] = [];
  for (const each of headers) answers.push(await stack.ask("/", { headers: each }));
  return answers;
}

/** A handler behind its own middleware, like a route. */
function routed(middleware: Middleware, answer: string): (ctx: Context) => unknown {
  return compose([middleware], (ctx) => {
    ctx.body = answer;
  });
}

describe("RateLimit", () => {
  it("obeys the layer contract", () => obeysLayerContract(RateLimit.perHour(1000)));

  it("adds the remaining tokens to every response", async () => {
    const clock = new FakeClock();
    await using stack = await Stack.of([RateLimit.perMinute(2)], () => "fine", clock);

    const first = await stack.ask();
    clock.advance(6000);
    const second = await stack.ask();

    expect(limitsOf(first)).to.deep.equal(["2", "1", "30"]);
    expect(limitsOf(second)).to.deep.equal(["2", "0", "54"]);
    expect(first.text).to.equal("fine");
  });

  it("responds with 429, Retry-After and a problem, without a call of the handler", async () => {
    let calls = 0;
    await using stack = await Stack.of([RateLimit.perMinute(1)], () => ++calls, new FakeClock());

    await stack.ask();
    const refused = await stack.ask();

    expect(refused.status).to.equal(429);
    expect(limitsOf(refused)).to.deep.equal(["1", "0", "60"]);
    expect(refused.headers["retry-after"]).to.equal("60");
    expect(refused.headers["content-type"]).to.equal("application/problem+json");
    expect(JSON.parse(refused.text)).to.deep.equal({
      type: "urn:framework:problem:rate-limit",
      title: "Rate limit exceeded",
      status: 429,
      detail: "Too many requests. Slow down and try again shortly.",
    });
    expect(calls).to.equal(1);
  });

  it("admits a request again as soon as there is a token", async () => {
    const clock = new FakeClock();
    await using stack = await Stack.of([RateLimit.perSecond(2)], () => "fine", clock);

    const before = [await stack.ask(), await stack.ask(), await stack.ask()];
    clock.advance(499);
    const early = await stack.ask();
    clock.advance(1);
    const inTime = await stack.ask();

    expect(statusesOf([...before, early, inTime])).to.deep.equal([200, 200, 429, 429, 200]);
    expect(early.headers["retry-after"]).to.equal("1");
  });

  it("refuses all requests with a limit of 0", async () => {
    await using stack = await Stack.of([RateLimit.perHour(0)]);

    const refused = await stack.ask();

    expect(refused.status).to.equal(429);
    expect(limitsOf(refused)).to.deep.equal(["0", "0", "0"]);
    expect(refused.headers["retry-after"]).to.equal("1");
  });

  it("never reports more remaining requests than the limit", async () => {
    await using stack = await Stack.of([RateLimit.perMinute(2).burst(4)], () => "fine", new FakeClock());

    const answers = [await stack.ask(), await stack.ask(), await stack.ask(), await stack.ask()];

    expect(answers.map((answer) => limitsOf(answer).slice(0, 2))).to.deep.equal([
      ["2", "2"],
      ["2", "2"],
      ["2", "1"],
      ["2", "0"],
    ]);
  });

  it("reports the limit in the headers, and not the burst", async () => {
    await using stack = await Stack.of([RateLimit.perMinute(60).burst(2)], () => "fine", new FakeClock());

    const answers = [await stack.ask(), await stack.ask(), await stack.ask()];

    expect(statusesOf(answers)).to.deep.equal([200, 200, 429]);
    expect(answers.map(limitsOf)).to.deep.equal([
      ["60", "1", "1"],
      ["60", "0", "2"],
      ["60", "0", "2"],
    ]);
  });

  const answers: readonly (readonly [string, (ctx: Context) => unknown, number])[] = [
    ["an error of the handler", () => Promise.reject(new NotFoundError("gone")), 404],
    ["an unhandled error", () => Promise.reject(new TypeError("broken")), 500],
    ["a response written by hand", (ctx) => void ctx.res.writeHead(202, { "x-own": "1" }).end("by hand"), 202],
    ["nothing at all", () => undefined, 204],
    ["a reply", () => Reply.text("fine"), 200],
  ];
  for (const [title, handler, status] of answers) {
    it(`adds the remaining tokens to ${title}`, async () => {
      await using stack = await Stack.of([new CatchPanicLayer(), RateLimit.perMinute(2)], handler, new FakeClock());

      const answer = await stack.ask();

      expect(answer.status).to.equal(status);
      expect(limitsOf(answer)).to.deep.equal(["2", "1", "30"]);
    });
  }

  describe("the key", () => {
    const alice = { "x-api-key": "alice" };
    const bob = { "x-api-key": "bob" };

    const rows: readonly (readonly [string, RateLimitKey, readonly Record<string, string>[], readonly number[]])[] = [
      ["by a header", { header: "X-Api-Key" }, [alice, bob, alice, bob], [200, 200, 429, 429]],
      [
        "by a header that is missing or empty: one bucket",
        { header: "x-api-key" },
        [{}, { "x-api-key": "" }],
        [200, 429],
      ],
      ["by a constant: one bucket", "global", [alice, bob], [200, 429]],
      ["by a function", (ctx) => ctx.get("x-api-key").length, [alice, bob, { "x-api-key": "eve" }], [200, 200, 429]],
      ["by a function that returns undefined: one bucket", () => undefined, [alice, bob], [200, 429]],
      [
        "by a function that returns null or an empty text: one bucket",
        (ctx) => ctx.get("x") || null,
        [alice, bob],
        [200, 429],
      ],
      ["by address", "ip", [alice, bob], [200, 429]],
    ];
    for (const [title, key, requests, expected] of rows) {
      it(`distinguishes clients ${title}`, async () => {
        await using stack = await Stack.of([RateLimit.perMinute(1).by(key)], () => "fine", new FakeClock());

        expect(statusesOf(await askEach(stack, requests))).to.deep.equal(expected);
      });
    }

    it("distinguishes clients by a header of any length, stored as its hash", async () => {
      const long = "k".repeat(8000);
      const hash = createHash("sha256").update(long).digest("base64url");
      await using stack = await Stack.of(
        [RateLimit.perMinute(1).by({ header: "x-key" })],
        () => "fine",
        new FakeClock(),
      );

      const seen = await askEach(stack, [
        { "x-key": long },
        { "x-key": `${long}!` },
        { "x-key": long },
        { "x-key": hash },
      ]);

      expect(statusesOf(seen)).to.deep.equal([200, 200, 429, 429]);
    });

    it("is a 500 when the function returns a value that is not a key", async () => {
      const byPromise = (() => Promise.resolve("alice")) as unknown as () => string;
      await using stack = await Stack.of([RateLimit.perMinute(1).by(byPromise)]);

      expect((await stack.ask()).status).to.equal(500);
    });

    const mixed = { header: "x-key", ipv6Prefix: 64 };
    for (const key of ["IP", { header: "x key" }, { header: "" }, {}, null, 7, { ipv6Prefix: 129 }, mixed]) {
      it(`refuses the key ${JSON.stringify(key)}`, () => {
        const error = errorOf(() => RateLimit.perMinute(1).by(key as RateLimitKey));

        expect(error).to.be.instanceOf(FrameworkError).with.property("code", "E_RATE_LIMIT_KEY");
        expect(error.message).to.contain(JSON.stringify(key));
      });
    }
  });

  describe("as a handle", () => {
    it("has one quota on several routes", async () => {
      const shared = RateLimit.perMinute(2);
      const [first, second] = [routed(shared, "first"), routed(shared, "second")];
      const handler = (ctx: Context): unknown => (ctx.path === "/first" ? first(ctx) : second(ctx));
      await using stack = await Stack.of([], handler, new FakeClock());

      const seen = [await stack.ask("/first"), await stack.ask("/second"), await stack.ask("/first")];

      expect(statusesOf(seen)).to.deep.equal([200, 200, 429]);
      expect(seen.map(({ headers }) => headers["ratelimit-remaining"])).to.deep.equal(["1", "0", "0"]);
    });

    it("does not change when another handle is derived from it", async () => {
      const base = RateLimit.perMinute(2);
      const narrow = base.burst(1);
      const layers = [base, narrow];
      await using stack = await Stack.of(layers, () => "fine", new FakeClock());

      const seen = [await stack.ask(), await stack.ask()];

      expect(statusesOf(seen)).to.deep.equal([200, 429]);
      expect(limitsOf(seen[0] ?? (await stack.ask()))).to.deep.equal(["2", "0", "30"]);
    });

    it("has its own quota on a route, inside the stage's; the response reports the innermost", async () => {
      const login = routed(RateLimit.perHour(1), "in");
      const handler = (ctx: Context): unknown => (ctx.path === "/login" ? login(ctx) : "fine");
      await using stack = await Stack.of([RateLimit.perMinute(5)], handler, new FakeClock());

      const seen = [await stack.ask("/login"), await stack.ask("/login"), await stack.ask("/")];

      expect(statusesOf(seen)).to.deep.equal([200, 429, 200]);
      expect(seen.map(limitsOf)).to.deep.equal([
        ["1", "0", "3600"],
        ["1", "0", "3600"],
        ["5", "2", "36"],
      ]);
    });
  });

  it("retains RateLimit headers that a handler sets", async () => {
    await using stack = await Stack.of([RateLimit.perMinute(2)], (ctx) => ctx.set("RateLimit-Limit", "7"));

    expect(limitsOf(await stack.ask())).to.deep.equal(["7", undefined, undefined]);
  });

  describe("when the store responds late", () => {
    const outcomes: readonly (readonly [string, () => Promise<unknown>])[] = [
      ["with a token", async () => [1, 9, 0, 0]],
      ["with a failure that lets requests through", () => Promise.reject(new Error("away"))],
    ];

    /** An application with a timeout around the limit, and a store that responds when `release` is called. */
    class Rig {
      readonly asked = new Gate();
      readonly answered = new Gate();
      readonly clock = new FakeClock();
      ctx: Context | undefined;
      calls = 0;

      constructor(private readonly outcome: () => Promise<unknown>) {}

      start(): Promise<Stack> {
        const cache = new ScriptedCache(async () => {
          this.asked.open();
          await this.answered.passed;
          return this.outcome();
        });
        const seen: Middleware = {
          handle: (ctx, next) => {
            this.ctx = ctx;
            return next();
          },
        };
        const limit = RateLimit.perHour(10).redis(cache).onBackendError("allow");
        return Stack.of([seen, new TimeoutLayer(100), limit], () => ++this.calls, this.clock);
      }

      /** Lets the store respond, and waits for the immediate effects. */
      async release(): Promise<void> {
        this.answered.open();
        await new Promise((resolve) => setImmediate(resolve));
      }
    }

    for (const [how, outcome] of outcomes) {
      it(`calls no inner stage for a request that got a 408 during the call of the store: ${how}`, async () => {
        const rig = new Rig(outcome);
        await using stack = await rig.start();

        const asking = stack.ask();
        await rig.asked.passed;
        rig.clock.advance(100);
        const answer = await asking;
        await rig.release();

        expect([answer.status, rig.calls]).to.deep.equal([408, 0]);
      });

      it(`calls no inner stage for a client that left during the call of the store: ${how}`, async () => {
        const rig = new Rig(outcome);
        await using stack = await rig.start();

        const socket = net.connect(stack.port, "127.0.0.1");
        socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        await rig.asked.passed;
        socket.destroy();
        await until(() => rig.ctx?.isClientGone === true);
        await rig.release();

        expect(rig.calls).to.equal(0);
      });

      it(`admits a request that still waits: ${how}`, async () => {
        const rig = new Rig(outcome);
        await using stack = await rig.start();

        const asking = stack.ask();
        await rig.asked.passed;
        await rig.release();

        expect([(await asking).status, rig.calls]).to.deep.equal([200, 1]);
      });
    }
  });

  for (const choice of ["fail", "", undefined, true]) {
    it(`refuses ${JSON.stringify(choice)} for onBackendError`, () => {
      const error = errorOf(() => RateLimit.perMinute(1).onBackendError(choice as "allow"));

      expect(error).to.be.instanceOf(FrameworkError).with.property("code", "E_RATE_LIMIT_BACKEND");
    });
  }

  for (const cache of [undefined, null, "redis://127.0.0.1", { script: () => undefined }]) {
    it(`refuses ${JSON.stringify(cache)} as a cache`, () => {
      const error = errorOf(() => RateLimit.perMinute(1).redis(cache as unknown as Cache));

      expect(error).to.be.instanceOf(FrameworkError).with.property("code", "E_RATE_LIMIT_CACHE");
    });
  }

  for (const window of ["perSecond", "perMinute", "perHour"] as const) {
    it(`refuses a quota that is not a whole number: ${window}(0.5)`, () => {
      const error = errorOf(() => RateLimit[window](0.5));

      expect(error).to.be.instanceOf(FrameworkError).with.property("code", "E_RATE_LIMIT_QUOTA");
      expect(error.message).to.contain("0.5");
    });
  }
});
