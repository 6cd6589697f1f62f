import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate as turn } from "node:timers/promises";
import type { ReadableSpan } from "../../../lib/observe/otel/peers.js";
import { expect } from "chai";
import type { LogEvent } from "../../../lib/tracing/subscriber.js";
import { tracing } from "../../../lib/tracing/tracing.js";
import { Delivery, DroppedSpans } from "../../../lib/observe/otel/delivery.js";
import { BATCH_DELAY_MS, SpanQueue, MAX_BATCH_SPANS, MAX_WAITING_SPANS } from "../../../lib/observe/otel/span-queue.js";
import { FakeClock } from "../../../lib/testing/fake-clock.js";
import { ARRIVED, ScriptedExporter } from "./scripted-exporter.js";

describe("SpanQueue", () => {
  let clock: FakeClock;
  let exporter: ScriptedExporter;
  let dropped: number;
  let queue: SpanQueue;

  beforeEach(() => {
    clock = new FakeClock();
    exporter = new ScriptedExporter();
    dropped = 0;
    const counter = new DroppedSpans({ increment: (_name, _labels, by) => void (dropped += by) });
    queue = new SpanQueue(new Delivery(exporter, counter, clock), counter, clock);
  });

  const end = (count: number) => {
    for (let i = 0; i < count; i++) queue.onEnd(SPAN);
  };

  it("sends the waiting spans one second after the first", async () => {
    end(1);
    clock.advance(BATCH_DELAY_MS - 1);
    end(2);
    const early = exporter.batches.length;
    clock.advance(1);

    expect(early).to.equal(0);
    expect(exporter.batches).to.deep.equal([3]);
  });

  it("sends a full batch without delay, but not within the call that fills it", () => {
    end(MAX_BATCH_SPANS);
    const within = exporter.batches.length;
    clock.advance(0);

    expect(within).to.equal(0);
    expect(exporter.batches).to.deep.equal([MAX_BATCH_SPANS]);
  });

  it("has one batch in flight at a time", async () => {
    end(3 * MAX_BATCH_SPANS + 1);
    await clock.advanceAsync(10 * BATCH_DELAY_MS);
    const first = [...exporter.batches];
    exporter.settle();
    await clock.advanceAsync(0);
    exporter.settle();
    await clock.advanceAsync(0);
    exporter.settle();
    await clock.advanceAsync(BATCH_DELAY_MS - 1);
    const full = [...exporter.batches];
    await clock.advanceAsync(1);

    expect(first).to.deep.equal([MAX_BATCH_SPANS]);
    expect(full).to.deep.equal([MAX_BATCH_SPANS, MAX_BATCH_SPANS, MAX_BATCH_SPANS]);
    expect(exporter.batches).to.deep.equal([MAX_BATCH_SPANS, MAX_BATCH_SPANS, MAX_BATCH_SPANS, 1]);
  });

  it("keeps a limited number of spans, and counts the others as dropped", () => {
    end(MAX_WAITING_SPANS + 7);

    expect(dropped).to.equal(7);
  });

  it("counts the spans of a failed export as dropped, and continues", async () => {
    end(2);
    await clock.advanceAsync(BATCH_DELAY_MS);
    exporter.settle(new Error("unreachable"));
    await clock.advanceAsync(0);
    end(1);
    await clock.advanceAsync(BATCH_DELAY_MS);

    expect(dropped).to.equal(2);
    expect(exporter.batches).to.deep.equal([2, 1]);
  });

  it("treats an exporter that throws as a failed export", async () => {
    exporter.export = () => {
      throw new Error("out of order");
    };

    end(3);
    await clock.advanceAsync(BATCH_DELAY_MS);

    expect(dropped).to.equal(3);
  });

  it("sends all spans at shutdown, waits for them, and ignores later spans", async () => {
    end(2 * MAX_BATCH_SPANS + 1);
    let isShutDown = false;
    const shutdown = queue.shutdown().then(() => (isShutDown = true));
    end(5);
    const { inFlight } = exporter;
    exporter.settle();
    exporter.settle();
    await turn();
    const beforeTheLast = isShutDown;
    exporter.settle(new Error("unreachable"));
    await shutdown;

    expect(inFlight).to.equal(3);
    expect(beforeTheLast).to.equal(false);
    expect(dropped).to.equal(1);
    expect(exporter.batches).to.deep.equal([MAX_BATCH_SPANS, MAX_BATCH_SPANS, 1]);
    expect(clock.pending).to.equal(0);
  });

  it("waits at shutdown for the batch in flight", async () => {
    end(1);
    await clock.advanceAsync(BATCH_DELAY_MS);
    let isShutDown = false;
    const shutdown = queue.shutdown().then(() => (isShutDown = true));
    await turn();
    const early = isShutDown;
    exporter.settle();
    await shutdown;

    expect(early).to.equal(false);
    expect(exporter.batches).to.deep.equal([1]);
  });

  it("exports outside the async context of the requests", async () => {
    const requests = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    exporter.export = (_spans, settle) => {
      seen.push(requests.getStore());
      settle(ARRIVED);
    };

    requests.run("one", end, 1);
    await clock.advanceAsync(BATCH_DELAY_MS);
    requests.run("two", end, MAX_BATCH_SPANS);
    await clock.advanceAsync(0);
    requests.run("three", end, 1);
    await requests.run("four", () => queue.shutdown());

    expect(seen).to.deep.equal([undefined, undefined, undefined]);
  });

  it("warns once for each outage, with the number of spans and the cause", async () => {
    const events: LogEvent[] = [];
    const registry = tracing.registry().with({ onEvent: (event) => void events.push(event) });
    const unreachable = new Error("unreachable");
    queue = tracing.withSubscriber(registry, () => {
      const counter = new DroppedSpans(undefined);
      return new SpanQueue(new Delivery(exporter, counter, clock), counter, clock);
    });

    for (const outcome of [unreachable, unreachable, undefined, unreachable]) {
      end(2);
      await clock.advanceAsync(BATCH_DELAY_MS);
      exporter.settle(outcome);
      await clock.advanceAsync(0);
    }

    expect(events.map(({ level, target, message, fields }) => [level, target, message, fields])).to.deep.equal([
      ["WARN", "framework::otel", "spans not delivered", { spans: 2, error: unreachable }],
      ["WARN", "framework::otel", "spans not delivered", { spans: 2, error: unreachable }],
    ]);
  });

  it("drops every span while every export fails", async () => {
    for (let i = 0; i < 20; i++) {
      end(MAX_WAITING_SPANS);
      await clock.advanceAsync(0);
      while (exporter.inFlight > 0) exporter.settle(new Error("unreachable"));
    }
    for (let i = 0; i < 40; i++) {
      await clock.advanceAsync(BATCH_DELAY_MS);
      while (exporter.inFlight > 0) exporter.settle(new Error("unreachable"));
    }

    expect(dropped).to.equal(20 * MAX_WAITING_SPANS);
  });
});

// The queue reads only these members.
const SPAN = { name: "span", status: { code: 0 }, attributes: {} } as ReadableSpan;
