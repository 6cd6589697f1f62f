import { Metadata, status } from "@grpc/grpc-js";
import type { ReadableSpan } from "../../../lib/observe/otel/peers.js";
import { expect } from "chai";
import { Metrics } from "../../../lib/observe/metrics/metrics.js";
import {
  Delivery,
  DroppedSpans,
  FIRST_DELAY_MS,
  MAX_ATTEMPTS,
  MAX_DELAY_MS,
} from "../../../lib/observe/otel/delivery.js";
import { findRetryDelay } from "../../../lib/observe/otel/retry-info.js";
import { BATCH_DELAY_MS } from "../../../lib/observe/otel/span-queue.js";
import { Telemetry } from "../../../lib/observe/otel/telemetry.js";
import { FakeClock } from "../../../lib/testing/fake-clock.js";
import { tracing } from "../../../lib/tracing/tracing.js";
import { until } from "../../support/until.js";
import { Collector, type Refusal } from "./collector.js";
import { ScriptedExporter } from "./scripted-exporter.js";

/** Longer than the first delay with its jitter, and shorter than the second. */
const AFTER_FIRST_MS = 1.25 * FIRST_DELAY_MS;

/** A field with a length: all numbers here are small enough for one byte. */
const field = (number: number, content: Buffer) =>
  Buffer.concat([Buffer.from([number * 8 + 2, content.length]), content]);
const trailers = (details: Buffer) => ({ get: () => [details] });
const retryInfo = Buffer.from("type.googleapis.com/google.rpc.RetryInfo");
const statusWith = (type: Buffer, duration: readonly number[]) =>
  Buffer.concat([
    Buffer.from([8, 14]),
    field(2, Buffer.from("not now")),
    field(3, Buffer.concat([field(1, type), field(2, field(1, Buffer.from(duration)))])),
  ]);
/** 3 s and 500 000 001 ns. */
const THREE_SECONDS_AND_A_HALF = [8, 3, 16, 0x81, 0xca, 0xb5, 0xee, 1];

describe("a batch that the collector refuses", () => {
  let collector: Collector;
  let clock: FakeClock;
  let metrics: Metrics;
  let telemetry: Telemetry;

  beforeEach(async () => {
    collector = await Collector.start();
    [clock, metrics] = [new FakeClock(), new Metrics()];
    telemetry = Telemetry.builder("shop").endpoint(collector.endpoint).metrics(metrics).clock(clock).build();
  });

  afterEach(async () => {
    await telemetry.shutdown().catch(() => {});
    collector.stop();
  });

  const sendBatch = async (...refusals: readonly Refusal[]): Promise<void> => {
    collector.refusals.push(...refusals);
    const subscriber = tracing.registry().with(telemetry.tracingLayer());
    tracing.withSubscriber(subscriber, () => tracing.target("shop").span("import").run(() => {})); // prettier-ignore
    await nextExport(BATCH_DELAY_MS);
  };
  const nextExport = async (ms: number): Promise<void> => {
    const arrived = collector.nextRequest();
    clock.advance(ms);
    await arrived;
  };
  const retryIsSet = () => until(() => clock.pending === 1);
  const dropped = () => metrics.counterValue("framework_spans_dropped_total", {});

  it("is tried again, with back-off, until it is delivered, if it was refused as unavailable or exhausted", async () => {
    await sendBatch({ code: status.UNAVAILABLE }, { code: status.RESOURCE_EXHAUSTED });
    await retryIsSet();
    await nextExport(AFTER_FIRST_MS);
    await retryIsSet();
    clock.advance(AFTER_FIRST_MS);
    const early = clock.pending;
    await nextExport(AFTER_FIRST_MS);
    await telemetry.shutdown();

    expect(early).to.equal(1);
    expect(collector.span("import").name).to.equal("import");
    expect(dropped()).to.equal(0);
  });

  it("is tried again after the time that the collector names", async () => {
    await sendBatch({ code: status.UNAVAILABLE, details: statusWith(retryInfo, THREE_SECONDS_AND_A_HALF) });
    await retryIsSet();
    clock.advance(3500);
    const early = clock.pending;
    await nextExport(1);
    await telemetry.shutdown();

    expect(early).to.equal(1);
    expect(collector.spans).to.have.length(1);
  });

  it("is tried a last time at shutdown, without a wait", async () => {
    await sendBatch({ code: status.UNAVAILABLE });
    await retryIsSet();
    await telemetry.shutdown();

    expect(collector.spans).to.have.length(1);
    expect(clock.pending).to.equal(0);
  });

  it("is lost at once if it was refused for another reason", async () => {
    await sendBatch({ code: status.INVALID_ARGUMENT });
    await until(() => dropped() === 1);

    expect(clock.pending).to.equal(0);
    expect(collector.spans).to.have.length(0);
  });
});

const refused = (details?: Buffer): Error => {
  const metadata = new Metadata();
  if (details !== undefined) metadata.set("grpc-status-details-bin", details);
  return Object.assign(new Error("not now"), { code: status.UNAVAILABLE, metadata });
};

describe("the attempts of a refused batch", () => {
  let clock: FakeClock;
  let scripted: ScriptedExporter;
  let delivery: Delivery;

  beforeEach(() => {
    [clock, scripted] = [new FakeClock(), new ScriptedExporter()];
    delivery = new Delivery(scripted, new DroppedSpans(undefined), clock);
    // The exporter passes the spans on unread.
    void delivery.send([{}] as ReadableSpan[]);
  });

  it("end after a bounded number with the last error", async () => {
    const last = refused();
    for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt++) {
      scripted.settle(refused());
      await until(() => clock.pending === 1);
      await clock.advanceAsync(60_000);
    }
    scripted.settle(last);
    await delivery.settled();

    expect(scripted.batches).to.have.length(MAX_ATTEMPTS);
    expect(delivery.undelivered).to.deep.equal({ spans: 1, cause: last });
    expect(clock.pending).to.equal(0);
  });

  it("end where the collector names a time that is too long", async () => {
    // 301 s.
    scripted.settle(refused(statusWith(retryInfo, [8, 0xad, 2])));
    await delivery.settled();

    expect(MAX_DELAY_MS).to.equal(300_000);
    expect(delivery.undelivered?.spans).to.equal(1);
  });

  it("end where a later attempt throws", async () => {
    scripted.settle(refused());
    const broken = new Error("out of order");
    scripted.export = () => {
      throw broken;
    };
    await until(() => clock.pending === 1);
    await clock.advanceAsync(AFTER_FIRST_MS);
    await delivery.settled();

    expect(delivery.undelivered?.cause).to.equal(broken);
  });
});

describe("findRetryDelay", () => {
  const whole = statusWith(retryInfo, THREE_SECONDS_AND_A_HALF);

  it("reads the delay, rounded up to milliseconds", () => {
    expect(findRetryDelay(trailers(whole))).to.equal(3501);
  });

  it("finds no delay in absent, foreign or malformed trailers", () => {
    const foreign = statusWith(Buffer.from("type.googleapis.com/google.rpc.DebugInfo"), [8, 3]);
    const negative = statusWith(retryInfo, [8, ...Array.from({ length: 9 }, () => 0xff), 1]);
    const malformed = [
      negative,
      Buffer.alloc(0),
      Buffer.alloc(64, 0xff),
      Buffer.from([0x1a, 0x7f]),
      statusWith(retryInfo, [8]),
    ];
    const cut = Array.from({ length: whole.length }, (_, length) => whole.subarray(0, length));

    const delays = [...malformed, foreign, ...cut].map((details) => findRetryDelay(trailers(details)));

    expect(delays.filter((delay) => delay !== undefined)).to.deep.equal([]);
    expect([undefined, null, {}, { get: () => "text" }].map(findRetryDelay)).to.deep.equal(Array(4).fill(undefined));
  });
});
