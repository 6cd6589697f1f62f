/** A scrape of many series: the same bytes as `render()`, in slices that do not block the event loop. */
import { Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { expect } from "chai";
import { Application, Route, Routes } from "../../../lib/entries/main.js";
import { Metrics, PROMETHEUS_CONTENT_TYPE } from "../../../lib/observe/metrics/metrics.js";
import { expectExposition } from "../../../lib/testing/expect-exposition.js";
import { testApp } from "../../../lib/testing/test-app.js";

const SLICE = 1 << 16;
const SETS = 10_000;

/** Label sets of one histogram: 14 lines each. */
function crowd(sets = SETS): Metrics {
  const metrics = new Metrics();
  // Not in the order of the exposition.
  for (let set = 0; set < sets; set++) metrics.observe("h_seconds", { route: `/r/${(set * 7919) % sets}` }, set / 1000);
  metrics.increment("requests_total", {}, 7);
  return metrics;
}

function many(record: (metrics: Metrics, set: number) => void): Metrics {
  const metrics = new Metrics();
  for (let set = 0; set < SETS; set++) record(metrics, (set * 7919) % SETS);
  return metrics;
}

async function streamed(metrics: Metrics): Promise<Readable> {
  const { body } = await metrics.response();
  if (!(body instanceof Readable)) throw new TypeError("it is not a stream");
  return body;
}

describe("a scrape", () => {
  it("is text with a length if it has few series", async () => {
    const metrics = crowd(100);

    expect((await metrics.response()).body).to.equal(metrics.render());
    expect((await new Metrics().response()).body).to.equal("");
  });

  it("is a stream of the same bytes if it has many series", async () => {
    const metrics = crowd();

    const bytes = await buffer(await streamed(metrics));

    expect(bytes.equals(Buffer.from(metrics.render()))).to.equal(true);
  });

  for (const [what, metrics, slices] of [
    ["label sets of a histogram", crowd, 90],
    ["label sets of a counter", () => many((registry, set) => registry.increment("c_total", { set })), 4],
    ["label sets of a gauge", () => many((registry, set) => registry.set("g", { set }, 0.5)), 3],
    ["names", () => many((registry, set) => registry.increment(`c_${set}_total`)), 7],
  ] as const) {
    it(`comes in slices for ${SETS} ${what}, and the event loop runs before each slice`, async () => {
      const sizes: number[] = [];
      const iterations: number[] = [];
      let iteration = 0;
      let hasEnded = false;
      const count = (): void => {
        iteration++;
        if (!hasEnded) setImmediate(count);
      };
      setImmediate(count);

      const body = await streamed(metrics());
      // Chunks of a stream of text are bytes.
      for await (const chunk of body) {
        sizes.push((chunk as Buffer).length);
        iterations.push(iteration);
      }
      hasEnded = true;

      expect(sizes).to.have.length.of.at.least(slices);
      expect(Math.max(...sizes)).to.be.below(SLICE + 4096);
      expect(iterations).to.deep.equal([...new Set(iterations)]);
    });
  }

  it("shows each series with values of one moment, and no series that was added after its metric was written", async () => {
    const metrics = crowd();
    const body = await streamed(metrics);
    let hasEnded = false;
    const disturb = (): void => {
      for (let set = 0; set < 1000; set++) metrics.observe("h_seconds", { route: `/r/${set * 10}` }, 1e9);
      metrics.observe("h_seconds", { route: "/a-new-one" }, 1);
      metrics.increment("a_new_one");
      if (!hasEnded) setImmediate(disturb);
    };
    setImmediate(disturb);

    const exposition = await text(body);
    hasEnded = true;

    // Every bucket row ends in the count of its series.
    expectExposition(exposition);
    expect(exposition).not.to.match(/new.one/);
  });

  it("ends when its client leaves, at any position", async () => {
    const body = await streamed(crowd());
    body.once("data", () => body.destroy());

    await new Promise((resolve) => body.once("close", resolve));

    expect(body.destroyed).to.equal(true);
  });

  it("is sent whole to GET, and only as a head to HEAD", async () => {
    const metrics = crowd();
    await using app = await testApp(
      Application.create().routes(new Routes([Route.get("/metrics", () => metrics.response())])),
    );

    const [whole, head] = [await app.get("/metrics"), await app.head("/metrics")];

    expect(await whole.text()).to.equal(metrics.render());
    for (const { status, headers } of [whole, head]) {
      expect([status, headers.get("content-type")]).to.deep.equal([200, PROMETHEUS_CONTENT_TYPE]);
      expect(headers.get("cache-control")).to.equal("no-store");
    }
  });
});
