import type { ReadableSpan } from "../../../lib/observe/otel/peers.js";
import { expect } from "chai";
import {
  MAX_BATCH_SPANS,
  MAX_BATCH_TEXT,
  MAX_WAITING_SPANS,
  MAX_WAITING_TEXT,
  WaitingSpans,
} from "../../../lib/observe/otel/span-queue.js";

/** The size of an attribute value beside its text. */
const VALUE = 8;

describe("WaitingSpans", () => {
  let waiting: WaitingSpans;

  beforeEach(() => {
    waiting = new WaitingSpans();
  });

  const addAll = (count: number, span: ReadableSpan) => {
    for (let i = 0; i < count; i++) waiting.add(span);
  };

  it("are limited in number", () => {
    addAll(MAX_WAITING_SPANS, spanOf());

    expect(waiting.add(spanOf())).to.equal(false);
    expect(waiting.count).to.equal(MAX_WAITING_SPANS);
  });

  it("are limited in text, in every part of a span", () => {
    const quarter = "x".repeat(MAX_WAITING_TEXT / 4);
    waiting.add(spanOf({ name: quarter }));
    waiting.add(spanOf({ status: { code: 2, message: quarter } }));
    waiting.add(spanOf({ attributes: { [quarter.slice(VALUE)]: true } }));
    waiting.add(spanOf({ attributes: { "": [quarter.slice(3 * VALUE + 1), "x"] } }));

    expect(waiting.add(spanOf({ name: "x" }))).to.equal(false);
    expect(waiting.add(spanOf())).to.equal(true);
  });

  it("leave in batches below a collector's limit, also with many numbers", () => {
    const numbers = Array.from({ length: 128 }, () => Math.PI);
    const fields = Object.fromEntries(numbers.map((_, at) => [`list ${at}`, numbers]));
    addAll(MAX_BATCH_SPANS, spanOf({ attributes: fields }));

    const batch = waiting.take();

    // 9 bytes for each number.
    expect(batch.length * 128 * 128 * 9).to.be.below(2 * 2 ** 20);
  });

  it("have room again after a batch was taken", () => {
    waiting.add(spanOf({ name: "x".repeat(MAX_WAITING_TEXT) }));
    addAll(MAX_WAITING_SPANS, spanOf());
    waiting.take();

    expect(waiting.add(spanOf({ name: "x".repeat(MAX_WAITING_TEXT) }))).to.equal(true);
  });

  it("are full if they fill a batch in number or in text", () => {
    addAll(MAX_BATCH_SPANS - 1, spanOf());
    const before = waiting.isFull;
    waiting.add(spanOf());
    const inNumber = waiting.isFull;
    waiting.take();
    waiting.add(spanOf({ name: "x".repeat(MAX_BATCH_TEXT) }));

    expect([before, inNumber, waiting.isFull]).to.deep.equal([false, true, true]);
  });

  it("leave in batches, the oldest first", () => {
    const [first, rest] = [spanOf(), spanOf()];
    addAll(MAX_BATCH_SPANS, first);
    addAll(1, rest);

    const batches = [waiting.take(), waiting.take(), waiting.take()];

    expect(batches.map(({ length }) => length)).to.deep.equal([MAX_BATCH_SPANS, 1, 0]);
    expect(batches.map(([span]) => span)).to.deep.equal([first, rest, undefined]);
  });

  it("leave in batches below the limit of text, and a larger span leaves alone", () => {
    addAll(3, spanOf({ name: "x".repeat(MAX_BATCH_TEXT / 2) }));
    addAll(2, spanOf({ name: "x".repeat(MAX_BATCH_TEXT + 1) }));
    addAll(1, spanOf());

    const batches = [waiting.take(), waiting.take(), waiting.take(), waiting.take(), waiting.take()];

    expect(batches.map(({ length }) => length)).to.deep.equal([2, 1, 1, 1, 1]);
  });
});

function spanOf(parts: Partial<ReadableSpan> = {}): ReadableSpan {
  // The queue reads only these members.
  return { name: "", status: { code: 0 }, attributes: {}, ...parts } as ReadableSpan;
}
