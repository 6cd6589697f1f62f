import http from "node:http";
import { expect } from "chai";
import type { Context } from "../../../lib/http/request/context.js";
import { TimeoutLayer } from "../../../lib/stages/timeout.js";
import { FakeClock } from "../../../lib/testing/fake-clock.js";
import { Gate } from "../../support/gate.js";
import { Stack } from "../../support/stack.js";
import { until } from "../../support/until.js";

/** The context of one request, which the test reads after the response. */
async function contextAfter(handler: (ctx: Context) => unknown): Promise<Context> {
  let seen: Context | undefined;
  await using stack = await Stack.of([], (ctx) => handler((seen = ctx)));
  await stack.ask();
  await until(() => seen?.phase === "closed");
  if (seen === undefined) throw new Error("the handler was not called");
  return seen;
}

function writer({ isExposed, isWrittenByHand }: Context): readonly boolean[] {
  return [isExposed, isWrittenByHand];
}

describe("the phase of a response", () => {
  it("is open while the handler works, also after the handler has set status and body", async () => {
    const phases: string[] = [];

    await contextAfter((ctx) => {
      phases.push(ctx.phase);
      ctx.status = 201;
      ctx.body = "created";
      phases.push(ctx.phase);
    });

    expect(phases).to.deep.equal(["open", "open"]);
  });

  for (const [title, write] of [
    ["writes the head", (res) => res.writeHead(200)],
    ["writes a part of the body", (res) => res.write("a part")],
    ["flushes the head", (res) => res.flushHeaders()],
  ] as readonly (readonly [string, (res: http.ServerResponse) => unknown])[]) {
    it(`is sent once the handler ${title} by hand; status and headers no longer change`, async () => {
      const seen: unknown[] = [];

      await contextAfter((ctx) => {
        write(ctx.res);
        ctx.status = 500;
        seen.push(ctx.phase, ctx.headMayChange, ctx.mayChange, ctx.status === 500);
        ctx.res.end();
      });

      expect(seen).to.deep.equal(["sent", false, true, false]);
    });
  }

  it("is decided once the time limit is reached, and later writes of the handler have no effect", async () => {
    const clock = new FakeClock();
    const [entered, decided] = [new Gate(), new Gate()];
    let seen: unknown[] = [];
    const late = (ctx: Context): void => {
      ctx.status = 200;
      ctx.body = "late";
      seen = [ctx.phase, ctx.mayChange, ctx.isAbandoned, ctx.status, ctx.body];
      decided.open();
    };
    const handler = async (ctx: Context): Promise<void> => {
      ctx.signal.addEventListener("abort", () => late(ctx));
      entered.open();
      await decided.passed;
    };
    await using stack = await Stack.of([new TimeoutLayer(1000)], handler, clock);

    const asking = stack.ask();
    await entered.passed;
    clock.advance(1000);
    const { status } = await asking;

    expect(seen).to.deep.equal(["decided", false, true, 408, undefined]);
    expect(status).to.equal(408);
  });

  it("is closed when the client leaves before the response", async () => {
    let seen: Context | undefined;
    const left = new Gate();
    await using stack = await Stack.of([], async (ctx) => {
      seen = ctx;
      await left.passed;
    });

    const request = http.get(stack.url).on("error", () => {});
    await until(() => seen !== undefined);
    const before = seen?.phase;
    request.destroy();
    await until(() => seen?.isClientGone === true);
    left.open();

    expect([before, seen?.phase, seen?.isAbandoned]).to.deep.equal(["open", "closed", true]);
  });
});

describe("the writer of a response", () => {
  it("is the framework alone until the application asks for Node's response", async () => {
    const seen: (readonly boolean[])[] = [];

    await contextAfter((ctx) => {
      ctx.body = "hello";
      seen.push(writer(ctx));
      ctx.res.setHeader("X-One", "1");
      seen.push(writer(ctx));
    });

    expect(seen).to.deep.equal([
      [false, false],
      [true, false],
    ]);
  });

  it("is the application after ctx.respond = false, until the application sets true again", async () => {
    const seen: (readonly boolean[])[] = [];

    await contextAfter((ctx) => {
      ctx.respond = false;
      seen.push(writer(ctx));
      ctx.respond = true;
      seen.push(writer(ctx));
      return "hello";
    });

    expect(seen).to.deep.equal([
      [true, true],
      [true, false],
    ]);
  });
});

describe("a status that was not set", () => {
  it("is undefined in the state, and the sent status follows from the body", async () => {
    const bare = await contextAfter((ctx) => void (ctx.body = "hello"));
    const set = await contextAfter((ctx) => void (ctx.status = 202));

    expect([bare.givenStatus, bare.status]).to.deep.equal([undefined, 200]);
    expect([set.givenStatus, set.status]).to.deep.equal([202, 202]);
  });
});
