/** A decided response: a stage has responded in the handler's place, and the handler still writes to Node's response. */
import type { ServerResponse } from "node:http";
import { pipeline, Readable } from "node:stream";
import { gunzipSync } from "node:zlib";
import { expect } from "chai";
import { ErrorMapping } from "../../../lib/stages/error-mapping.js";
import { TimeoutLayer } from "../../../lib/stages/timeout.js";
import { CompressionLayer } from "../../../lib/stages/compression.js";
import type { Context } from "../../../lib/http/request/context.js";
import { FrameworkError } from "../../../lib/errors/framework-error.js";
import type { Next } from "../../../lib/http/middleware.js";
import { Reply } from "../../../lib/http/response/reply.js";
import { FakeClock } from "../../../lib/testing/fake-clock.js";
import { Gate } from "../../support/gate.js";
import { Stack, type ReceivedResponse } from "../../support/stack.js";
import { until } from "../../support/until.js";

const LIMIT_MS = 5000;
const PROBLEM = '{"type":"urn:framework:problem:timeout","title":"Request timed out","status":408}';

type Pipe = (stream: Readable, res: ServerResponse) => void;
type Write = (res: ServerResponse, ctx: Context) => unknown;

const WRITES: readonly (readonly [string, Write])[] = [
  ["ends it", (res) => res.end("LATE")],
  ["sets the status and ends it", (res) => ((res.statusCode = 200), res.end("LATE"))],
  ["writes a head and ends it", (res) => res.writeHead(200, "Late", { "X-Late": "1" }).end("LATE")],
  ["writes a body", (res) => res.write("LATE")],
  ["flushes the head", (res) => res.flushHeaders()],
  ["sends early hints", (res) => res.writeEarlyHints({ link: "</late>; rel=preload" })],
  ["changes the status", (res) => ((res.statusCode = 200), (res.statusMessage = "Late"))],
  ["sets a header", (res) => res.setHeader("X-Late", "1").appendHeader("X-Late", "2")],
  ["removes the type", (res) => res.removeHeader("Content-Type")],
  ["destroys it", (res) => res.destroy()],
  ["pipes into it", (res) => Readable.from(["LATE"]).pipe(res)],
  ["asks for it again", (_res, ctx) => (ctx.res.writeHead(200), ctx.response.res.end("LATE"))],
  ["takes the response over, as in Koa", (res, ctx) => ((ctx.respond = false), res.end("LATE"))],
  ["sets a cookie", (_res, ctx) => ctx.cookies.set("late", "1")],
  ["reports an error, as in Koa", (_res, ctx) => ctx.onerror(new Error("late"))],
];

interface Late {
  /** The time of the late write: when the signal aborts, or while an outer stage works on the response. */
  readonly when: "at the abort" | "after it";
  /** The action of the handler before the time limit. The handler has Node's response from then on. */
  readonly early?: Write;
  readonly late: Write;
}

/** The response to a request whose handler does not return within the time limit. */
async function respondLate({ when, early, late }: Late): Promise<ReceivedResponse> {
  const clock = new FakeClock();
  const [entered, decided, done] = [new Gate(), new Gate(), new Gate()];
  const working = async (_ctx: Context, next: Next): Promise<void> => {
    await next();
    decided.open();
    await done.passed;
  };
  const handler = async (ctx: Context): Promise<void> => {
    early?.(ctx.res, ctx);
    const write = (): unknown => late(ctx.res, ctx);
    if (when === "at the abort") ctx.signal.addEventListener("abort", write);
    entered.open();
    await decided.passed;
    if (when === "after it") write();
    setImmediate(() => done.open());
    await new Promise(() => {});
  };
  const layers = [new ErrorMapping(), { handle: working }, new TimeoutLayer(LIMIT_MS)];
  await using stack = await Stack.of(layers, handler, clock);

  const asking = stack.ask();
  await entered.passed;
  clock.advance(LIMIT_MS);
  return await asking;
}

const nothing: Pipe = () => {};
const pipe: Pipe = (stream, res) => void pipeline(stream, res, () => {});

describe("a decided response", () => {
  for (const when of ["at the abort", "after it"] as const) {
    for (const [title, late] of WRITES) {
      for (const [holding, early] of [
        ["which holds Node's response", () => {}],
        ["which asks for Node's response only then", undefined],
      ] as const) {
        it(`does not change when its handler, ${holding}, ${title} ${when}`, async () => {
          const { status, headers, text } = await respondLate({ when, late, ...(early && { early }) });

          expect([status, text]).to.deep.equal([408, PROBLEM]);
          expect(headers["content-type"]).to.equal("application/problem+json");
          expect(headers).not.to.have.any.keys("x-late", "set-cookie");
        });
      }
    }
  }

  it("does not change by late writes while it is compressed", async () => {
    const clock = new FakeClock();
    const entered = new Gate();
    const handler = async ({ signal, res }: Context): Promise<void> => {
      signal.addEventListener("abort", () => setImmediate(() => res.writeHead(200).end("LATE")));
      entered.open();
      await new Promise(() => {});
    };
    const page = "<h1>too slow</h1>".repeat(1000);
    const layers = [
      new CompressionLayer(),
      new ErrorMapping().using(() => Reply.html(page)),
      new TimeoutLayer(LIMIT_MS),
    ];
    await using stack = await Stack.of(layers, handler, clock);

    const asking = stack.ask("/", { headers: { "accept-encoding": "gzip" } });
    await entered.passed;
    clock.advance(LIMIT_MS);
    const response = await asking;

    expect([response.status, response.headers["content-encoding"]]).to.deep.equal([408, "gzip"]);
    expect(gunzipSync(response.body).toString()).to.equal(page);
  });

  it("does not change by late writes while it is streamed", async () => {
    const clock = new FakeClock();
    const [entered, begun] = [new Gate(), new Gate()];
    async function* page(): AsyncGenerator<string> {
      yield "too ";
      begun.open();
      await new Promise((resolve) => setImmediate(resolve));
      yield "slow";
    }
    const handler = async ({ res }: Context): Promise<void> => {
      entered.open();
      await begun.passed;
      res.end("LATE");
    };
    const mapping = new ErrorMapping().using(() => Reply.of(Readable.from(page()), "text/plain"));
    await using stack = await Stack.of([mapping, new TimeoutLayer(LIMIT_MS)], handler, clock);

    const asking = stack.ask();
    await entered.passed;
    clock.advance(LIMIT_MS);
    const response = await asking;

    expect([response.status, response.text]).to.deep.equal([408, "too slow"]);
  });

  for (const [title, early, late] of [
    ["was piped into Node's response before", pipe, nothing],
    ["is piped into Node's response afterwards", nothing, pipe],
  ] as const) {
    it(`destroys a stream that ${title}`, async () => {
      const stream = new Readable({ read() {} });
      const write =
        (act: Pipe): Write =>
        (res) =>
          act(stream, res);

      const { status } = await respondLate({ when: "at the abort", early: write(early), late: write(late) });

      expect(status).to.equal(408);
      await until(() => stream.destroyed);
    });
  }

  it("ends a generator that is piped into Node's response afterwards", async () => {
    let isReturned = false;
    async function* endless(): AsyncGenerator<string> {
      try {
        for (;;) yield await new Promise<string>((resolve) => setImmediate(resolve, "LATE"));
      } finally {
        isReturned = true;
      }
    }

    await respondLate({ when: "at the abort", late: (res) => pipeline(endless, res, () => {}) });

    await until(() => isReturned);
  });

  it("gives a late write the reason why it has no effect", async () => {
    const called: unknown[] = [];
    const call = (error?: Error | null): unknown => called.push(error);

    const late: Write = (res) => {
      called.push(res.write("LATE", call));
      res.end(call);
    };
    await respondLate({ when: "at the abort", late });

    expect(called).to.have.length(3);
    expect(called[0]).to.equal(false);
    expect(called.slice(1).map((error) => (error instanceof FrameworkError ? error.code : error))).to.deep.equal([
      "E_TIMEOUT",
      "E_TIMEOUT",
    ]);
  });
});
