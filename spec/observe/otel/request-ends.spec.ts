/** The spans of a request for each way in which a request can end. */
import { once } from "node:events";
import { Readable } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { Application, provide, Route, Routes, type ApplicationBuilder, type Context } from "@stagecraft/framework";
import { Telemetry } from "@stagecraft/framework/observe/otel";
import { tracing } from "@stagecraft/framework/observe/tracing";
import { expect } from "chai";
import { Conversation } from "../../support/conversation.js";
import { Gate } from "../../support/gate.js";
import { attributesOf, Collector, type ExportedSpan } from "./collector.js";
import { under } from "./export.js";

const log = tracing.target("shop::links");
const REQUEST = "framework.request";

/** Serves `handler`, runs `use`, stops the application and returns the collector with the exported spans. */
async function served(
  handler: (ctx: Context) => unknown,
  use: (url: string, stop: () => Promise<void>) => Promise<unknown>,
  configure: (builder: ApplicationBuilder) => unknown = (builder) => builder.catchPanic(),
): Promise<Collector> {
  const collector = await Collector.start();
  const telemetry = Telemetry.builder("shop").endpoint(collector.endpoint).build();
  await under(telemetry, async () => {
    const builder = Application.create().routes(new Routes([Route.get("/", handler)]));
    builder.traceContext().accessLog().provide(provide(Telemetry).useValue(telemetry));
    configure(builder);
    const running = await builder.lifecycle({ drainDelayMs: 0 }).build().start();
    await use(running.url, () => running.stop());
    await running.stop();
  });
  collector.stop();
  return collector;
}

/** The outer and the inner span of the request. */
function requestSpans({ spans }: Collector): readonly (ExportedSpan | undefined)[] {
  const requests = spans.filter(({ name }) => name === REQUEST);
  const outer = requests.find(({ parentSpanId }) => parentSpanId === undefined);
  return [outer, requests.find(({ parentSpanId }) => parentSpanId === outer?.spanId)];
}

function statuses(collector: Collector): readonly unknown[] {
  return requestSpans(collector).map((span) => span?.status);
}

const UNSET = { code: "STATUS_CODE_UNSET" };

describe("the spans of a request", () => {
  it("end when the client disconnects, without an error; spans inside end with their work", async () => {
    const reached = new Gate();
    const done = new Gate();

    const collector = await served(
      async ({ signal }) => {
        await log.span("find").run(async () => {
          reached.open();
          await once(signal, "abort");
          await turn();
        });
        done.open();
      },
      async (url) => {
        const client = await Conversation.with(Number(new URL(url).port));
        client.say("GET / HTTP/1.1\r\nhost: shop\r\n\r\n");
        await reached.passed;
        await client[Symbol.asyncDispose]();
        await done.passed;
      },
    );

    const [outer, inner] = requestSpans(collector);
    const find = collector.span("find");
    expect(statuses(collector)).to.deep.equal([UNSET, UNSET]);
    expect([find.parentSpanId, find.status]).to.deep.equal([inner?.spanId, UNSET]);
    expect(BigInt(find.endTimeUnixNano) > BigInt(outer?.endTimeUnixNano ?? 0)).to.equal(true);
  });

  it("have no error after a timeout, but the inner span that was aborted has one", async () => {
    const collector = await served(
      ({ signal }) =>
        log.span("find").run(async () => {
          await once(signal, "abort");
          throw signal.reason;
        }),
      async (url) => expect((await fetch(url)).status).to.equal(408),
      (builder) => builder.timeout(20),
    );

    expect(statuses(collector)).to.deep.equal([UNSET, UNSET]);
    expect(collector.span("find").status).to.deep.equal({
      code: "STATUS_CODE_ERROR",
      message: "DeadlineError: The request took too long.",
    });
  });

  it("have the error that no handler caught", async () => {
    const collector = await served(
      () => {
        throw new RangeError("out of order");
      },
      async (url) => expect((await fetch(url)).status).to.equal(500),
      () => {},
    );

    const failed = { code: "STATUS_CODE_ERROR", message: "RangeError: out of order" };
    expect(statuses(collector)).to.deep.equal([failed, failed]);
  });

  it("are the parents of spans that start while the body is streamed", async () => {
    const collector = await served(
      () => Readable.from(chunks()),
      async (url) => expect(await (await fetch(url)).text()).to.equal("abc"),
    );

    const [outer, inner] = requestSpans(collector);
    for (const chunk of ["a", "b", "c"]) {
      expect(collector.span(`chunk ${chunk}`)).to.include({ parentSpanId: inner?.spanId, traceId: outer?.traceId });
    }
  });

  it("are the parents of spans that start in a timer after the response", async () => {
    const responded = new Gate();
    const done = new Gate();

    const collector = await served(
      () => {
        setTimeout(() => {
          void responded.passed.then(() => {
            log.span("late").run(() => {});
            done.open();
          });
        });
        return "soon";
      },
      async (url) => {
        await (await fetch(url)).text();
        responded.open();
        await done.passed;
      },
    );

    const [outer, inner] = requestSpans(collector);
    const late = collector.span("late");
    expect(late.parentSpanId).to.equal(inner?.spanId);
    expect(BigInt(late.startTimeUnixNano) > BigInt(outer?.endTimeUnixNano ?? 0)).to.equal(true);
  });

  it("are exported for a request in flight at the start of the drain", async () => {
    const reached = new Gate();
    const draining = new Gate();

    const collector = await served(
      async () => {
        reached.open();
        await draining.passed;
        return "responded";
      },
      async (url, stop) => {
        const received = fetch(url);
        await reached.passed;
        const stopped = stop();
        draining.open();
        expect(await (await received).text()).to.equal("responded");
        await stopped;
      },
    );

    expect(statuses(collector)).to.deep.equal([UNSET, UNSET]);
  });

  for (const [what, end, received, message, status] of [
    [
      "observes its signal",
      ({ signal }: Context) => Promise.reject(signal.reason),
      503,
      "DrainDeadlineError: The server is shutting down.",
      { code: "STATUS_CODE_ERROR", message: "HTTP 503" },
    ],
    ["ignores its signal", () => new Promise<never>(() => {}), undefined, undefined, UNSET],
  ] as const) {
    it(`are exported for a request that the drain cuts at its deadline, if its handler ${what}`, async () => {
      const reached = new Gate();

      const collector = await served(
        (ctx) =>
          log.span("find").run(async () => {
            log.span("query").run(() => {});
            reached.open();
            await once(ctx.signal, "abort");
            return end(ctx);
          }),
        async (url, stop) => {
          const responded = fetch(url).then(
            (response) => response.status,
            () => undefined,
          );
          await reached.passed;
          await stop();
          expect(await responded).to.equal(received);
        },
        (builder) => builder.catchPanic().lifecycle({ drainDeadlineMs: 50 }),
      );

      expect(statuses(collector)).to.deep.equal([status, status]);
      expect(collector.span("query").traceId).to.equal(requestSpans(collector)[0]?.traceId);
      // A span that never ends is not exported.
      const finds = collector.spans.filter(({ name }) => name === "find");
      expect(finds.map((find) => find.status?.message)).to.deep.equal(message === undefined ? [] : [message]);
    });
  }

  it("are not created for health checks", async () => {
    const collector = await served(
      () => "responded",
      async (url) => {
        await fetch(`${url}/up/live`);
        await fetch(url);
      },
    );

    expect(collector.spans.map((span) => attributesOf(span)["path"])).to.have.members([undefined, "/"]);
  });
});

async function* chunks(): AsyncGenerator<string> {
  for (const chunk of ["a", "b", "c"]) {
    yield await log.span(`chunk ${chunk}`).run(() => turn(chunk));
  }
}
