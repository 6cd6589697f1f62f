/** The metrics of all workers: what a registry reports, and what the parent adds. */
import { serialize, deserialize } from "node:v8";
import { expect } from "chai";
import * as fc from "fast-check";
import { DeltaReader, type MetricsDelta } from "../../../lib/observe/metrics/delta.js";
import { MergedMetrics } from "../../../lib/observe/metrics/merged.js";
import { Metrics, type MetricsOptions } from "../../../lib/observe/metrics/metrics.js";
import { expectExposition } from "../../../lib/testing/expect-exposition.js";

const BOUNDS = [1, 2, 4];
const LOST = "framework_metrics_overflow_total";

/** A registry whose reports arrive as messages of another process do. */
class Worker {
  readonly metrics: Metrics;
  private readonly reader: DeltaReader;
  private sequence = 0;

  constructor(
    readonly id: number,
    {
      bounds = BOUNDS,
      sliceBytes,
      ...options
    }: MetricsOptions & { bounds?: readonly number[]; sliceBytes?: number } = {},
  ) {
    this.metrics = Metrics.withBuckets(bounds, options);
    const { families, bounds: sorted } = this.metrics.contents;
    this.reader = new DeltaReader(families, sorted, sliceBytes);
  }

  *reports(isLast = false): Generator<object, void> {
    for (const delta of this.reader.take()) yield this.report(delta, isLast);
  }

  reportTo(merged: MergedMetrics, isLast = false): void {
    for (const report of this.reports(isLast)) expect(merged.receive(this.id, report)).to.equal("added");
  }

  private report(delta: MetricsDelta, isLast: boolean): object {
    return deserialize(serialize({ sequence: ++this.sequence, isLast, delta })) as object;
  }
}

function textOf(merged: MergedMetrics): string {
  const text = [...merged.texts()].join("");
  expectExposition(text);
  return text;
}

/** The samples by their name and labels. */
function samplesOf(text: string): ReadonlyMap<string, number> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ")))]),
  );
}

describe("the merged metrics of workers", () => {
  it("are the text of the registry for one worker, byte for byte", () => {
    const worker = new Worker(1);
    const merged = new MergedMetrics(100);
    worker.metrics.describeCounter("orders_total", 'Orders "placed".\n');
    worker.metrics.describeHistogram("wait_seconds", "Without samples.");
    worker.metrics.increment("orders_total", { kind: 'a"\\\n', at: "ü" }, 3);
    worker.metrics.increment("zero_total", {}, 0);
    worker.metrics.set("depth", {}, Number.NaN);
    worker.metrics.set("depth", { at: "end" }, -Infinity);
    for (const value of [0.5, 1, 3, Infinity, -2]) worker.metrics.observe("size", { of: "a" }, value);

    worker.reportTo(merged);
    worker.metrics.increment("orders_total");
    worker.metrics.observe("size", { of: "a" }, 1);
    worker.metrics.observe("size", {}, 1);
    worker.reportTo(merged);
    worker.reportTo(merged);

    expect(textOf(merged)).to.equal(worker.metrics.render());
  });

  it("report only what has changed", () => {
    const worker = new Worker(1);
    worker.metrics.describeGauge("depth", "Depth.");
    worker.metrics.increment("a_total", {}, 2);
    worker.metrics.increment("b_total", {}, 2);
    const merged = new MergedMetrics(100);
    worker.reportTo(merged);

    worker.metrics.increment("b_total", { x: 1 }, 5);
    worker.metrics.describeGauge("depth", "Another depth.", { workers: "max" });
    const [changes, ...more] = worker.reports();
    const [nothing] = worker.reports();

    expect(more).to.deep.equal([]);
    expect(changes).to.deep.nested.include({
      "delta.families": [
        { name: "depth", kind: "gauge", help: "Another depth.", rule: "max", labels: [], values: new Float64Array(0) },
        { name: "b_total", kind: "counter", help: "", rule: "sum", labels: ['x="1"'], values: Float64Array.of(5) },
      ],
    });
    expect(nothing).to.deep.nested.include({ "delta.families": [] });
  });

  it("come in parts of a bounded size", () => {
    const worker = new Worker(1);
    for (let set = 0; set < 5000; set++) worker.metrics.observe("h_seconds", { route: `/route/${set}` }, set);
    for (let name = 0; name < 2000; name++) worker.metrics.describeCounter(`c_${name}_total`, "x".repeat(50));
    const merged = new MergedMetrics(10_000);

    const sizes = [...worker.reports()].map((report) => {
      expect(merged.receive(1, report)).to.equal("added");
      return serialize(report).length;
    });

    expect(sizes).to.have.length.above(5);
    expect(Math.max(...sizes)).to.be.below(200_000);
    expect(textOf(merged)).to.equal(worker.metrics.render());
  });

  it("merge a gauge by its rule, and forget the value of a worker that has ended", () => {
    const workers = [new Worker(1), new Worker(2), new Worker(3)];
    const merged = new MergedMetrics(100);
    for (const { id, metrics } of workers) {
      for (const rule of ["sum", "max", "min"] as const) metrics.describeGauge(`by_${rule}`, "", { workers: rule });
      for (const name of ["plain", "by_sum", "by_max", "by_min"]) metrics.set(name, {}, id * id);
      metrics.set("by_max", { x: 1 }, id === 2 ? Number.NaN : id);
      metrics.set("by_min", { x: 1 }, Number.NaN);
      metrics.set("plain", { worker: id }, 1);
    }
    for (const worker of workers) worker.reportTo(merged);

    const all = samplesOf(textOf(merged));
    merged.remove(3);
    const fewer = samplesOf(textOf(merged));
    merged.remove(2);
    merged.remove(1);

    expect([...all]).to.have.deep.members([
      ["plain", 14],
      ['plain{worker="1"}', 1],
      ['plain{worker="2"}', 1],
      ['plain{worker="3"}', 1],
      ["by_sum", 14],
      ["by_max", 9],
      ['by_max{x="1"}', 3],
      ["by_min", 1],
      ['by_min{x="1"}', Number.NaN],
    ]);
    expect(fewer).to.include.keys("plain", 'plain{worker="2"}');
    expect([fewer.get("plain"), fewer.get("by_max"), fewer.has('plain{worker="3"}')]).to.deep.equal([5, 4, false]);
    expect([...samplesOf(textOf(merged))]).to.deep.equal([]);
  });

  it("refuse a rule that is none", () => {
    const metrics = new Metrics();

    for (const rule of ["last", "", undefined as unknown]) {
      // A caller without types.
      const describeWrongly = () => metrics.describeGauge("g", "", { workers: rule as "sum" });
      if (rule === undefined) expect(describeWrongly).not.to.throw();
      else expect(describeWrongly).to.throw('metric "g": the rule for workers is sum, max, min, not');
    }
  });

  it("have room for the gauges of new workers when those of old ones have ended", () => {
    const merged = new MergedMetrics(2);

    for (let id = 1; id <= 50; id++) {
      const worker = new Worker(id);
      worker.metrics.set("started", { worker: id }, id);
      worker.reportTo(merged);
      merged.remove(id - 1);
    }

    expect(textOf(merged)).to.equal('# TYPE started gauge\nstarted{worker="50"} 50\n');
  });

  it("have at most maxSeries series of a metric, of all workers together, and count what is lost", () => {
    const merged = new MergedMetrics(3);
    const workers = [new Worker(1, { maxSeries: 3 }), new Worker(2, { maxSeries: 3 })];
    for (const { id, metrics } of workers) {
      for (let set = 0; set < 4; set++) {
        metrics.increment("c_total", { id, set });
        for (let times = 0; times < 5; times++) metrics.observe("h", { id, set }, 1);
      }
    }
    for (const worker of workers) worker.reportTo(merged);

    const samples = samplesOf(textOf(merged));

    expect([...samples.keys()].filter((key) => key.startsWith("c_total{"))).to.have.length(3);
    // Each worker has lost one set; the parent loses the three sets of the second.
    expect(samples.get(`${LOST}{metric="c_total"}`)).to.equal(1 + 1 + 3);
    expect(samples.get(`${LOST}{metric="h"}`)).to.equal(5 + 5 + 15);
  });

  it("stay as they are while a living worker of another release has other kinds, names or buckets", () => {
    const merged = new MergedMetrics(100);
    const [old, renewed] = [new Worker(1), new Worker(2, { bounds: [1, 2, 5] })];
    old.metrics.increment("size", {}, 4);
    old.metrics.observe("wait", {}, 1);
    old.metrics.increment("same_total", {}, 2);
    old.reportTo(merged);
    const before = samplesOf(textOf(merged));
    const record = (): void => {
      renewed.metrics.observe("size", {}, 3);
      renewed.metrics.observe("wait", {}, 1);
      renewed.metrics.set("wait_sum2", {}, 1);
      renewed.metrics.increment("same_total", {}, 1);
      renewed.reportTo(merged);
    };

    record();
    const during = samplesOf(textOf(merged));
    merged.remove(1);
    record();
    const after = samplesOf(textOf(merged));

    for (const [key, value] of before) expect(during.get(key), key).to.equal(key === "same_total" ? 3 : value);
    expect(during.get(`${LOST}{metric="size"}`)).to.equal(1);
    expect(during.get(`${LOST}{metric="wait"}`)).to.equal(1);
    expect(after.get("size_sum")).to.equal(3);
    expect(after.get('wait_bucket{le="5"}')).to.equal(1);
    expect(after.get("same_total")).to.equal(4);
  });

  it("refuse a metric whose samples would have the names of another's", () => {
    const merged = new MergedMetrics(100);
    const [one, other] = [new Worker(1), new Worker(2)];
    one.metrics.observe("wait", {}, 1);
    other.metrics.increment("wait_count", {}, 7);
    one.reportTo(merged);
    other.reportTo(merged);

    expect(samplesOf(textOf(merged)).get("wait_count")).to.equal(1);
    expect(samplesOf(textOf(merged)).get(`${LOST}{metric="wait_count"}`)).to.equal(1);
  });

  it("add a repeated report once, and say that one is missing", () => {
    const worker = new Worker(1);
    const merged = new MergedMetrics(100);
    const reports = [1, 2, 3].map(() => {
      worker.metrics.increment("c_total");
      return [...worker.reports()][0];
    });

    const outcomes = [reports[0], reports[0], reports[2], reports[1], reports[2]].map((each) =>
      merged.receive(1, each),
    );

    expect(outcomes).to.deep.equal(["added", "repeated", "lost", "repeated", "repeated"]);
    expect(samplesOf(textOf(merged)).get("c_total")).to.equal(2);
  });

  it("know whether the last report of a worker has arrived", () => {
    const merged = new MergedMetrics(100);
    const [ended, killed, silent] = [new Worker(1), new Worker(2), new Worker(3)];
    ended.reportTo(merged);
    ended.reportTo(merged, true);
    killed.reportTo(merged);
    silent.metrics.increment("c_total");

    expect([1, 2, 3].map((id) => merged.remove(id))).to.deep.equal([true, false, false]);
  });

  it("survive any message, and are never half of a broken report", () => {
    const worker = new Worker(1);
    worker.metrics.increment("c_total", {}, 2);
    worker.metrics.set("g", {}, 2);
    worker.metrics.observe("h", {}, 2);
    const [valid] = worker.reports();
    const broken = fc.oneof(fc.anything(), mutationsOf(valid));

    fc.assert(
      fc.property(fc.array(broken, { maxLength: 20 }), (messages) => {
        const merged = new MergedMetrics(100);
        for (const message of messages) {
          const before = textOf(merged);
          const outcome = merged.receive(1, message);
          if (outcome !== "added" && outcome !== "lost") expect(textOf(merged)).to.equal(before);
        }
        textOf(merged);
      }),
      { numRuns: 300 },
    );
  });
});

/** Copies of a report in which one value, at any depth, is another value. */
function mutationsOf(valid: unknown): fc.Arbitrary<unknown> {
  const paths = pathsOf(valid);
  const values = fc.oneof(
    fc.anything(),
    fc.constantFrom(
      -1,
      0.5,
      Number.NaN,
      2,
      "gauge",
      "c_total",
      "framework_metrics_overflow_total",
      'a="b\n"',
      'le="1"',
    ),
    fc.constantFrom('b="1",a="1"', 'a="1",', '__a="1"', 'a="\\x"', Float64Array.of(3, 1), Float64Array.of(1)),
  );
  return fc.tuple(fc.constantFrom(...paths), values, fc.integer({ min: 1, max: 9 })).map(([path, value, sequence]) => {
    const copy = structuredClone(valid) as Record<string, unknown>;
    Object.assign(copy, { sequence });
    const last = path.at(-1) ?? "sequence";
    // Every step of a path but the last leads to an object.
    const parent = path.slice(0, -1).reduce((each, key) => each[key] as Record<string, unknown>, copy);
    parent[last] = parent instanceof Float64Array && typeof value !== "number" ? Number.NaN : value;
    return copy;
  });
}

function pathsOf(value: unknown): readonly (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) => [[key], ...pathsOf(child).map((path) => [key, ...path])]);
}

interface Step {
  readonly do: "increment" | "observe" | "set" | "report" | "end" | "kill";
  readonly at: number;
  readonly label: number;
  readonly by: number;
}

const steps: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom("increment", "increment", "observe", "observe", "set", "report", "report", "end", "kill"),
  at: fc.nat({ max: 2 }),
  label: fc.nat({ max: 3 }),
  by: fc.nat({ max: 5 }),
});

/** A worker, and what it has reported, alone. */
interface Followed {
  readonly worker: Worker;
  readonly alone: MergedMetrics;
}

/** Three places with a worker each; a worker that ends has a successor. */
class Model {
  private readonly merged = new MergedMetrics(100);
  private readonly living: Followed[] = [];
  /** The sums of what the others have reported. */
  private readonly ended = new Map<string, number>();
  private before: ReadonlyMap<string, number> = new Map();

  constructor(private nextId = 1) {
    for (let place = 0; place < 3; place++) this.start(place);
  }

  run({ do: what, at, label, by }: Step): void {
    const followed = this.living[at];
    if (followed === undefined) return;
    const { metrics } = followed.worker;
    if (what === "increment") metrics.increment(`c_${label % 2}_total`, { label }, by);
    else if (what === "observe") metrics.observe("h", { label }, by);
    else if (what === "set") metrics.set("g", { label }, by);
    else if (what === "report") this.report(followed, by);
    else this.end(followed, at, what === "end" ? undefined : by);
    this.check();
  }

  /** After a report, that of each worker alone is its registry. */
  settle(): void {
    for (const followed of this.living) {
      this.report(followed);
      expect(textOf(followed.alone)).to.equal(followed.worker.metrics.render());
    }
    this.check();
  }

  /** @param parts that arrive; the others are read by no report, and come with the next one */
  private report({ worker, alone }: Followed, parts = Infinity, isLast = false): void {
    const reports = worker.reports(isLast);
    for (let part = 0; part < parts; part++) {
      const { done, value } = reports.next();
      if (done === true) break;
      for (const merged of [this.merged, alone]) expect(merged.receive(worker.id, value)).to.equal("added");
      expect(this.merged.receive(worker.id, value)).to.equal("repeated");
    }
  }

  /** @param parts of its report that arrive before it is killed */
  private end(followed: Followed, at: number, parts: number | undefined): void {
    this.report(followed, parts, parts === undefined);
    addTo(this.ended, [...samplesOf(textOf(followed.alone))].filter(isNoGauge));
    expect(this.merged.remove(followed.worker.id)).to.equal(parts === undefined);
    this.start(at);
  }

  private start(place: number): void {
    const worker = new Worker(this.nextId++, { sliceBytes: 300 });
    this.living[place] = { worker, alone: new MergedMetrics(100) };
  }

  private check(): void {
    const now = samplesOf(textOf(this.merged));
    const sums = new Map(this.ended);
    for (const { alone } of this.living) addTo(sums, samplesOf(textOf(alone)));
    expect([...now]).to.have.deep.members([...sums]);
    for (const [key, value] of [...this.before].filter(isNoGauge)) expect(now.get(key), key).to.be.at.least(value);
    this.before = now;
  }
}

function addTo(sums: Map<string, number>, samples: Iterable<readonly [string, number]>): void {
  for (const [key, value] of samples) sums.set(key, (sums.get(key) ?? 0) + value);
}

function isNoGauge([key]: readonly [string, number]): boolean {
  return !key.startsWith("g{");
}

describe("the merged metrics of workers that count, report, end and are killed in any order", () => {
  it("are the sums of what was reported, and counters never fall", () => {
    fc.assert(
      fc.property(fc.array(steps, { maxLength: 60 }), (run) => {
        const model = new Model();
        for (const step of run) model.run(step);
        model.settle();
      }),
      { numRuns: 200 },
    );
  });
});
