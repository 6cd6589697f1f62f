import type { ReadableSpan } from "../../../lib/observe/otel/peers.js";
import { expect } from "chai";
import { Delivery, DroppedSpans } from "../../../lib/observe/otel/delivery.js";
import { FakeClock } from "../../../lib/testing/fake-clock.js";
import { ScriptedExporter } from "./scripted-exporter.js";

describe("Delivery", () => {
  let exporter: ScriptedExporter;
  let delivery: Delivery;

  beforeEach(() => {
    exporter = new ScriptedExporter();
    delivery = new Delivery(exporter, new DroppedSpans(undefined), new FakeClock());
  });

  const unreachable = new Error("unreachable");

  it("has no undelivered spans after a successful export", async () => {
    const sent = delivery.send(batch(1));
    exporter.settle();
    await sent;

    expect(delivery.undelivered).to.equal(undefined);
  });

  it("adds up lost spans until an export succeeds", async () => {
    for (const spans of [2, 3]) {
      const sent = delivery.send(batch(spans));
      exporter.settle(unreachable);
      await sent;
    }
    const lost = delivery.undelivered;
    const sent = delivery.send(batch(1));
    exporter.settle();
    await sent;

    expect(lost).to.deep.equal({ spans: 5, cause: unreachable });
    expect(delivery.undelivered).to.equal(undefined);
  });

  it("counts abandoned spans at once and only once, also if their export ends later", async () => {
    let dropped = 0;
    delivery = new Delivery(
      exporter,
      new DroppedSpans({ increment: (_name, _labels, by) => void (dropped += by) }),
      new FakeClock(),
    );
    const sent = [delivery.send(batch(2)), delivery.send(batch(3)), delivery.send(batch(4))];
    exporter.settle();
    await sent[0];

    delivery.abandon();
    const atOnce = dropped;
    exporter.settle(unreachable);
    exporter.settle();
    await Promise.all(sent);

    expect([atOnce, dropped]).to.deep.equal([7, 7]);
  });

  for (const [order, outcomes] of Object.entries({
    "before it": [unreachable, undefined],
    "after it": [undefined, unreachable],
  })) {
    it(`keeps a lost batch although another batch, in flight at the same time, was delivered ${order}`, async () => {
      const sent = [delivery.send(batch(2)), delivery.send(batch(3))];
      for (const outcome of outcomes) exporter.settle(outcome);
      await Promise.all(sent);

      expect(delivery.undelivered).to.deep.include({ cause: unreachable });
    });
  }
});

function batch(spans: number): ReadableSpan[] {
  // The delivery only counts them.
  return Array.from({ length: spans }, () => ({}) as ReadableSpan);
}
