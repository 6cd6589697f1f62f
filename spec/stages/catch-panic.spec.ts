import { expect } from "chai";
import type { Context } from "../../lib/http/request/context.js";
import { type Middleware, type Run, StageLayer } from "../../lib/http/middleware.js";
import { CatchPanicLayer } from "../../lib/stages/catch-panic.js";
import { obeysLayerContract } from "../../lib/testing/contracts/obeys-layer-contract.js";
import { Stack } from "../support/stack.js";

/** A stage further out: it notes the status that it sees, or the exception. */
class Watch extends StageLayer {
  readonly seen: unknown[] = [];

  override wrap(inner: Run): Run {
    return (ctx) =>
      Promise.resolve(inner(ctx)).then(
        () => void this.seen.push(ctx.status),
        (error: unknown) => {
          this.seen.push(error);
          throw error;
        },
      );
  }
}

const unhandled: readonly (readonly [what: string, handler: (ctx: Context) => unknown])[] = [
  [
    "an exception",
    () => {
      throw new Error("canary");
    },
  ],
  ["a rejection", () => Promise.reject(new Error("canary"))],
];

describe("CatchPanicLayer", () => {
  it("obeys the layer contract", () => obeysLayerContract(new CatchPanicLayer(), { respondsToErrors: true }));

  for (const [what, handler] of unhandled) {
    it(`passes ${what} to the outer stages as a response with status 500`, async () => {
      const watch = new Watch();
      await using stack = await Stack.of([watch, new CatchPanicLayer()], handler);

      const answer = await stack.ask();

      expect(watch.seen).to.deep.equal([500]);
      expect(answer.status).to.equal(500);
      expect(answer.headers["content-type"]).to.equal("application/problem+json");
      expect(answer.text).not.to.include("canary");
    });
  }

  it("removes the headers of the unfinished response, and retains those of the outer stages", async () => {
    const outer: Middleware = {
      handle(ctx, next) {
        ctx.set("X-Outer", "1");
        return next();
      },
    };
    await using stack = await Stack.of([outer, new CatchPanicLayer()], (ctx) => {
      ctx.set("X-Inner", "1");
      throw new Error("canary");
    });

    const { headers } = await stack.ask();

    expect(headers).to.have.property("x-outer", "1");
    expect(headers).not.to.have.property("x-inner");
  });
});
