import { AssertionError } from "node:assert";
import { Readable } from "node:stream";
import { expect } from "chai";
import {
  CatchPanicLayer,
  CompressionLayer,
  CorsLayer,
  ErrorMapping,
  ForbiddenError,
  Layer,
  Reply,
  SecurityHeaders,
  type Context,
  type KoaMiddleware,
  type Middleware,
  type Next,
  type Run,
} from "../../../lib/entries/main.js";
import { obeysLayerContract, type LayerContractOptions } from "../../../lib/testing/contracts/obeys-layer-contract.js";
import type { LayerUnderTest } from "../../../lib/testing/contracts/layer-trial.js";
import { runProgram } from "../../support/program.js";
import { rejectionOf } from "../../support/rejection-of.js";

class Wrapping extends Layer {
  constructor(private readonly around: (inner: Run) => Run) {
    super();
  }

  override wrap(inner: Run): Run {
    return this.around(inner);
  }
}

class Marking implements Middleware {
  async handle(ctx: Context, next: Next): Promise<void> {
    await next();
    ctx.set("X-Marked", "yes");
  }
}

const koa = (run: (ctx: Context, next: Next) => unknown): KoaMiddleware => run;
const nextImmediate = () => new Promise<void>((resolve) => setImmediate(resolve));
const isAsked = (ctx: Context) => ctx.get("x-refuse") !== "";

/** Replaces a stream by its text, after `read` has collected it. */
function collecting(read: (body: Readable, keep: (chunk: Buffer) => void) => Promise<unknown>): KoaMiddleware {
  return koa(async (ctx, next) => {
    await next();
    const { body } = ctx;
    if (!(body instanceof Readable)) return;
    let text = "";
    await read(body, (chunk) => (text += String(chunk)));
    ctx.body = text;
  });
}

describe("obeysLayerContract", () => {
  const good: readonly (readonly [string, LayerUnderTest, LayerContractOptions?])[] = [
    ["a layer without an effect", new Wrapping((inner) => inner)],
    ["a Koa function without an effect", koa((_ctx, next) => next())],
    ["a middleware that sets a header after next", new Marking()],
    ["a Koa function that sets a default status before next", koa((ctx, next) => ((ctx.status = 200), next()))],
    [
      "a middleware that refuses",
      koa((ctx, next) => (isAsked(ctx) ? Reply.empty(403) : next())),
      { refused: { headers: { "X-Refuse": "1" } } },
    ],
    [
      "a middleware that refuses by an error",
      koa((ctx, next) => {
        if (isAsked(ctx)) throw new ForbiddenError();
        return next();
      }),
      { refused: { headers: { "X-Refuse": "1" } } },
    ],
    [
      "a layer that responds to errors",
      koa(async (ctx, next) => {
        try {
          await next();
        } catch {
          if (!ctx.headerSent) ctx.status = 500;
        }
      }),
      { respondsToErrors: true },
    ],
    ["SecurityHeaders", new SecurityHeaders().withHsts().withCspNonce("script-src 'nonce-{nonce}'")],
    ["Compression", new CompressionLayer({ threshold: 1 }), { request: { headers: { "Accept-Encoding": "gzip" } } }],
    [
      "CorsLayer",
      new CorsLayer({ origins: ["https://a.example"] }),
      {
        request: { headers: { Origin: "https://a.example" } },
        refused: {
          method: "OPTIONS",
          headers: { Origin: "https://a.example", "Access-Control-Request-Method": "PUT" },
        },
      },
    ],
    ["CatchPanicLayer", new CatchPanicLayer(), { respondsToErrors: true }],
    ["ErrorMapping", new ErrorMapping().redactErrors(true)],
  ];
  for (const [name, layer, options] of good) {
    it(`accepts ${name}`, () => obeysLayerContract(layer, options));
  }

  const bad: readonly (readonly [string, LayerUnderTest, RegExp, LayerContractOptions?])[] = [
    [
      "a Koa function that calls next twice",
      koa(async (_ctx, next) => {
        await next();
        await next().catch(() => {});
      }),
      /when the next handler responds, it called next 2 times/,
    ],
    [
      "a layer that calls its inner run twice",
      new Wrapping((inner) => async (ctx) => {
        await inner(ctx);
        try {
          await inner(ctx);
        } catch {
          // Hides the second call.
        }
      }),
      /called next 2 times/,
    ],
    [
      "a middleware that calls next after it has refused",
      koa((ctx, next) => {
        ctx.status = 403;
        return next();
      }),
      /called next after it had responded with 403: return instead/,
    ],
    [
      "a middleware that calls next after it has set a body",
      koa((ctx, next) => {
        ctx.body = "cached";
        return next();
      }),
      /called next after it had responded with 200/,
    ],
    [
      "a middleware that calls next after it has finished",
      koa((_ctx, next) => void setImmediate(() => void next().catch(() => {}))),
      /called next after it had finished/,
      { limitMs: 300 },
    ],
    [
      "a middleware that calls next for a request it refuses",
      koa((_ctx, next) => next()),
      /when the request is one to refuse, it called next/,
      { refused: { headers: { "X-Refuse": "1" } } },
    ],
    [
      "a middleware that sets a header on the raw response after next",
      koa(async (ctx, next) => {
        await next();
        ctx.res.setHeader("X-Late", "1");
      }),
      /when the response is written by hand, it called setHeader\(X-Late\) after the head was sent/,
    ],
    [
      "a middleware that sets a cookie after next",
      koa(async (ctx, next) => {
        await next();
        ctx.cookies.set("late", "1");
      }),
      /called setHeader\(Set-Cookie\) after the head was sent/,
    ],
    [
      "a middleware that swallows exceptions",
      koa(async (_ctx, next) => next().catch(() => {})),
      /when the next handler rejects with an error, it swallowed Error: further in/,
    ],
    [
      "a middleware that does not await next",
      koa((_ctx, next) => void next().catch(() => {})),
      /when the next handler responds later, it finished before next had: await next/,
    ],
    [
      "a middleware that neither awaits next nor handles its error",
      koa((_ctx, next) => void next()),
      /when the next handler responds later, it finished before next had: await next/,
    ],
    [
      "a middleware that does not await its own continuation of next",
      koa((ctx, next) => void next().then(() => ctx.res.setHeader("X-Late", "1"))),
      /called setHeader\(X-Late\) after the head was sent[^]*it finished before next had/,
    ],
    [
      "an asynchronous middleware that does not await next",
      koa(async (_ctx, next) => {
        void (async () => {
          await next();
        })();
      }),
      /it finished before next had: await next/,
    ],
    [
      "a layer that does not await its inner run",
      new Wrapping((inner) => (ctx) => void inner(ctx)),
      /it finished before next had: await next/,
    ],
    [
      "a layer that catches synchronous exceptions",
      new Wrapping((inner) => (ctx) => {
        try {
          return inner(ctx);
        } catch {
          return undefined;
        }
      }),
      /when the next handler throws an error, it swallowed/,
    ],
    [
      "a middleware that wraps exceptions in its own",
      koa(async (_ctx, next) => {
        try {
          await next();
        } catch (cause) {
          throw new Error("wrapped", { cause });
        }
      }),
      /threw Error: wrapped.* in place of/,
    ],
    [
      "a layer that responds to errors with success",
      koa(async (ctx, next) => {
        try {
          await next();
        } catch {
          if (!ctx.headerSent) ctx.body = "all is well";
        }
      }),
      /it has to become an error response/,
      { respondsToErrors: true },
    ],
    [
      "a middleware that refuses HEAD",
      koa((ctx, next) => (ctx.method === "HEAD" ? Reply.empty(405) : next())),
      /responded to HEAD with 405 .* and to GET with 200 text\/plain/,
    ],
    [
      "a middleware that ends a failed body as if it were complete",
      collecting(
        (body, keep) => new Promise((resolve) => body.on("data", keep).on("end", resolve).on("error", resolve)),
      ),
      /when the body fails after its first bytes, it gave a body whose stream failed a clean end/,
      { limitMs: 300 },
    ],
    [
      "a middleware that ignores the error of a body",
      collecting((body, keep) => new Promise((resolve) => body.on("data", keep).on("end", resolve))),
      /when the body fails after its first bytes, it did not come to an end within 300 ms/,
      { limitMs: 300 },
    ],
    [
      "a middleware that does not destroy an unread body",
      collecting((body, keep) => new Promise((resolve) => body.on("data", keep).on("close", resolve))),
      /when the client leaves while the body is sent, it left a body stream open/,
      { limitMs: 300 },
    ],
    [
      "a middleware that does not respond",
      koa(() => new Promise<never>(() => {})),
      /when the next handler responds, it gave no response[^]*within 100 ms/,
      { limitMs: 100 },
    ],
    [
      "a middleware that destroys the connection",
      koa(async (ctx, next) => {
        await next();
        await nextImmediate();
        ctx.req.socket.destroy();
      }),
      /gave no response/,
    ],
    ["a middleware that never calls next", koa(() => Reply.empty(503)), /never called next: give a `request`/],
  ];
  for (const [name, layer, message, options] of bad) {
    it(`rejects ${name}`, async () => {
      const error = await rejectionOf(obeysLayerContract(layer, options));

      expect(error).to.be.instanceOf(AssertionError);
      expect(error.message).to.match(message);
    });
  }

  it("names the layer and lists all faults", async () => {
    class Swallowing implements Middleware {
      async handle(_ctx: Context, next: Next): Promise<void> {
        await next().catch(() => {});
      }
    }

    const error = await rejectionOf(obeysLayerContract(new Swallowing()));

    expect(error.message).to.match(/^Swallowing does not obey the layer contract:\n/);
    expect(error.message.split("\n  - ")).to.have.length.above(4);
  });

  it("names a layer that does not await next", async () => {
    class Hasty implements Middleware {
      handle(_ctx: Context, next: Next): void {
        void next();
      }
    }

    const error = await rejectionOf(obeysLayerContract(new Hasty()));

    expect(error.message).to.match(/^Hasty does not obey the layer contract:\n/);
  });

  it("does not end the test process if a layer does not await next", async () => {
    const { code, stdout, stderr } = await runProgram(`
      const { obeysLayerContract } = await load("testing/contracts/obeys-layer-contract.js");
      const { Layer } = await load("http/middleware.js");
      class Timed extends Layer {
        wrap(inner) {
          return (ctx) => void setTimeout(() => inner(ctx), 100);
        }
      }
      const layers = {
        timed: new Timed(),
        call: (ctx, next) => void next(),
        continuation: (ctx, next) => void next().then(() => ctx.res.setHeader("X-Late", "1")),
        async task(ctx, next) { void (async () => { await next(); ctx.cookies.set("late", "1"); })(); },
      };
      for (const layer of Object.values(layers)) {
        await obeysLayerContract(layer).catch((error) => console.log(error.message.split("\\n")[0]));
      }
    `);

    expect(stderr).to.equal("");
    expect(stdout.split("\n")).to.deep.equal([
      "Timed does not obey the layer contract:",
      "call does not obey the layer contract:",
      "continuation does not obey the layer contract:",
      "task does not obey the layer contract:",
      "",
    ]);
    expect(code).to.equal(0);
  });

  it("runs the layer inside the layers of `within`", () =>
    obeysLayerContract(
      koa((ctx, next) => {
        if (ctx.state["user"] !== "ada") throw new ForbiddenError();
        return next();
      }),
      { within: [koa((ctx, next) => ((ctx.state["user"] = "ada"), next()))] },
    ));
});
