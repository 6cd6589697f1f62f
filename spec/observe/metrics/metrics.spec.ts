import { expect } from "chai";
import {
  DEFAULT_BUCKETS,
  HTTP_REQUEST_DURATION,
  HTTP_REQUESTS_TOTAL,
  type Labels,
  Metrics,
  MetricsError,
  PROMETHEUS_CONTENT_TYPE,
} from "../../../lib/observe/metrics/metrics.js";
import { expectExposition } from "../../../lib/testing/expect-exposition.js";
import { errorOf } from "../../support/error-of.js";

function fail(): never {
  expect.fail("asked");
}

describe("Metrics", () => {
  it("exports the names of the request metrics", () => {
    expect(HTTP_REQUESTS_TOTAL).to.equal("http_requests_total");
    expect(HTTP_REQUEST_DURATION).to.equal("http_request_duration_seconds");
    expect(PROMETHEUS_CONTENT_TYPE).to.equal("text/plain; version=0.0.4; charset=utf-8");
    expect(DEFAULT_BUCKETS).to.deep.equal([0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0]);
    expect(DEFAULT_BUCKETS).to.satisfy(Object.isFrozen);
  });

  it("shares no series with another registry", () => {
    const metrics = new Metrics();
    const same = metrics;
    const other = new Metrics();

    metrics.increment("seen_total");
    same.increment("seen_total");

    expect(metrics.counterValue("seen_total")).to.equal(2);
    expect(other.render()).to.equal("");
  });

  it("writes a counter, a gauge and a histogram in the text format, byte for byte", () => {
    const metrics = Metrics.withBuckets([1, 0.5]);
    metrics.describeHistogram("wait_seconds", "Time waited.");
    metrics.describeCounter("orders_total", "Orders placed.");

    metrics.increment("orders_total", { method: "POST", gift: false }, 2);
    metrics.set("depth", {}, 1.5);
    metrics.observe("wait_seconds", { queue: "a" }, 0.25);
    metrics.observe("wait_seconds", { queue: "a" }, 0.5);
    metrics.observe("wait_seconds", { queue: "a" }, 0.75);
    metrics.observe("wait_seconds", { queue: "a" }, 2);

    expect(metrics.render()).to.equal(
      [
        "# TYPE depth gauge",
        "depth 1.5",
        "# HELP orders_total Orders placed.",
        "# TYPE orders_total counter",
        'orders_total{gift="false",method="POST"} 2',
        "# HELP wait_seconds Time waited.",
        "# TYPE wait_seconds histogram",
        'wait_seconds_bucket{queue="a",le="0.5"} 2',
        'wait_seconds_bucket{queue="a",le="1"} 3',
        'wait_seconds_bucket{queue="a",le="+Inf"} 4',
        'wait_seconds_sum{queue="a"} 3.5',
        'wait_seconds_count{queue="a"} 4',
        "",
      ].join("\n"),
    );
  });

  it("writes a histogram without labels with only le in braces", () => {
    const metrics = Metrics.withBuckets([]);

    metrics.observe("wait_seconds", {}, 3);

    expect(metrics.render()).to.equal(
      '# TYPE wait_seconds histogram\nwait_seconds_bucket{le="+Inf"} 1\nwait_seconds_sum 3\nwait_seconds_count 1\n',
    );
  });

  describe("labels", () => {
    it("make one series in each order", () => {
      const metrics = new Metrics();

      metrics.increment("a_total", { method: "GET", status: "200" });
      metrics.increment("a_total", { status: "200", method: "GET" });

      expect(metrics.render()).to.equal('# TYPE a_total counter\na_total{method="GET",status="200"} 2\n');
      expect(metrics.counterValue("a_total", { status: "200", method: "GET" })).to.equal(2);
    });

    it("make one series for a value as text, as a number and as a boolean", () => {
      const metrics = new Metrics();

      metrics.increment("a_total", { status: 200, ok: true });
      metrics.increment("a_total", { status: "200", ok: "true" });
      metrics.increment("a_total", { ok: true, status: "200" });

      expect(metrics.counterValue("a_total", { status: 200, ok: true })).to.equal(3);
    });

    it("make different series if one set contains the other", () => {
      const metrics = new Metrics();

      metrics.increment("a_total", { x: 1, y: 2 });
      metrics.increment("a_total", { x: 1 });
      metrics.increment("a_total", { y: 2 });
      metrics.increment("a_total");
      metrics.increment("a_total", { y: 2, x: 1 });

      expect(metrics.render()).to.equal(
        '# TYPE a_total counter\na_total 1\na_total{x="1"} 1\na_total{x="1",y="2"} 2\na_total{y="2"} 1\n',
      );
    });

    it("cannot be confused with other labels", () => {
      const metrics = new Metrics();

      metrics.increment("a_total", { x: '1",y="2' });
      metrics.increment("a_total", { x: "1", y: "2" });
      metrics.increment("a_total", { x: "\\" });
      metrics.increment("a_total", { x: "\n" });
      metrics.increment("a_total", { x: "\\n" });

      const text = metrics.render();
      expectExposition(text);
      expect(text.trimEnd().split("\n").slice(1)).to.have.members([
        'a_total{x="1\\",y=\\"2"} 1',
        'a_total{x="1",y="2"} 1',
        'a_total{x="\\\\"} 1',
        'a_total{x="\\n"} 1',
        'a_total{x="\\\\n"} 1',
      ]);
    });

    it("keep an empty value", () => {
      const metrics = new Metrics();

      metrics.increment("a_total", { x: "" });

      expect(metrics.render()).to.include('a_total{x=""} 1\n');
    });

    it("take a lone surrogate as U+FFFD, which it becomes in UTF-8", () => {
      const metrics = new Metrics();

      metrics.increment("a_total", { x: "\ud800" });
      metrics.increment("a_total", { x: "\ufffd" });

      expect(metrics.render()).to.equal('# TYPE a_total counter\na_total{x="\ufffd"} 2\n');
    });

    it("are only the own members of the object", () => {
      const metrics = new Metrics();
      // An object of type Labels may inherit members.
      const inheriting = Object.create({ x: "1" }) as Record<string, string>;

      metrics.increment("a_total", inheriting);
      metrics.increment("a_total", { x: "1" }, 10);
      metrics.increment("a_total", inheriting);

      expect(metrics.render()).to.equal('# TYPE a_total counter\na_total 2\na_total{x="1"} 10\n');
      expect(metrics.counterValue("a_total", inheriting)).to.equal(2);
    });

    it("may have the names of members of Object.prototype", () => {
      const metrics = new Metrics();

      metrics.increment("a_total", { constructor: "x", toString: "y", hasOwnProperty: "z" });
      metrics.increment("constructor", { valueOf: "x" });

      expect(metrics.counterValue("a_total", { toString: "y", constructor: "x", hasOwnProperty: "z" })).to.equal(1);
      expect(metrics.counterValue("a_total", {})).to.equal(undefined);
      expect(metrics.counterValue("constructor", { valueOf: "x" })).to.equal(1);
      expect(metrics.counterValue("toString")).to.equal(undefined);
    });

    it("count NaN as one value", () => {
      const metrics = new Metrics();

      for (let count = 0; count < 20; count++) metrics.increment("a_total", { x: NaN });

      expect(metrics.render()).to.equal('# TYPE a_total counter\na_total{x="NaN"} 20\n');
    });

    it("are found among many values and among few", () => {
      const metrics = new Metrics();

      for (let round = 0; round < 3; round++) {
        for (let value = 0; value < 100; value++) metrics.increment("a_total", { x: value, y: `v${value % 10}` });
      }

      for (let value = 0; value < 100; value++) {
        expect(metrics.counterValue("a_total", { x: value, y: `v${value % 10}` })).to.equal(3);
      }
    });
  });

  describe("numbers", () => {
    const rows: readonly (readonly [number, string])[] = [
      [0, "0"],
      [-0, "0"],
      [1.0, "1"],
      [-3, "-3"],
      [0.1 + 0.2, "0.30000000000000004"],
      [1.5e-7, "1.5e-7"],
      [2 ** 53 - 1, "9007199254740991"],
      [1e21, "1e+21"],
      [NaN, "NaN"],
      [Infinity, "+Inf"],
      [-Infinity, "-Inf"],
    ];

    for (const [value, text] of rows) {
      it(`writes ${Object.is(value, -0) ? "-0" : value} as ${text}`, () => {
        const metrics = new Metrics();

        metrics.set("level", {}, value);

        expect(metrics.render()).to.equal(`# TYPE level gauge\nlevel ${text}\n`);
      });
    }

    it("counts exactly up to 2^53 - 1", () => {
      const metrics = new Metrics();

      metrics.increment("a_total", {}, 2 ** 53 - 2);
      metrics.increment("a_total");

      expect(metrics.counterValue("a_total")).to.equal(9_007_199_254_740_991);
    });
  });

  describe("help", () => {
    it("is escaped: backslash and newline, not quotes", () => {
      const metrics = new Metrics();

      metrics.describeGauge("level", 'a "b" \\ c\nd');

      expect(metrics.render()).to.equal('# HELP level a "b" \\\\ c\\nd\n# TYPE level gauge\n');
    });

    it("is omitted if it is empty; the type stays", () => {
      const metrics = new Metrics();

      metrics.describeCounter("a_total", "");

      expect(metrics.render()).to.equal("# TYPE a_total counter\n");
    });

    it("is replaced by a second description, and may come after the first count", () => {
      const metrics = new Metrics();
      metrics.increment("a_total");

      metrics.describeCounter("a_total", "Old.");
      metrics.describeCounter("a_total", "New.");

      expect(metrics.render()).to.equal("# HELP a_total New.\n# TYPE a_total counter\na_total 1\n");
    });
  });

  describe("buckets", () => {
    const rows: readonly (readonly [string, readonly number[], readonly string[]])[] = [
      ["sorted", [5, 0.5, 1], ["0.5", "1", "5", "+Inf"]],
      ["without duplicates", [1, 1, 2, 1.0], ["1", "2", "+Inf"]],
      ["without the numbers that are not finite", [NaN, Infinity, 1, -Infinity], ["1", "+Inf"]],
      ["only +Inf where none is left", [NaN], ["+Inf"]],
      ["below zero too", [0, -1], ["-1", "0", "+Inf"]],
      ["the defaults", DEFAULT_BUCKETS, [...DEFAULT_BUCKETS.map(String), "+Inf"]],
    ];

    for (const [title, bounds, written] of rows) {
      it(`are ${title}`, () => {
        const metrics = Metrics.withBuckets(bounds);

        metrics.observe("wait_seconds", {}, 0);

        const found = [...metrics.render().matchAll(/le="([^"]+)"/gu)].map(([, bound]) => bound);
        expect(found).to.deep.equal(written);
      });
    }

    it("do not change the caller's list", () => {
      const bounds = [3, 1, 2];

      Metrics.withBuckets(bounds);

      expect(bounds).to.deep.equal([3, 1, 2]);
    });

    const many = Array.from({ length: 21 }, (_, index) => index);
    const observed: readonly (readonly [number, number])[] = [
      [-Infinity, 0],
      [-1, 0],
      [0, 0],
      [0.5, 1],
      [7, 7],
      [7.5, 8],
      [8, 8],
      [15.1, 16],
      [16, 16],
      [20, 20],
      [20.1, 21],
      [Infinity, 21],
      [NaN, 21],
    ];

    for (const [value, bucket] of observed) {
      it(`count ${value} from le="${many[bucket] ?? "+Inf"}" on, among 21 bounds`, () => {
        const metrics = Metrics.withBuckets(many);

        metrics.observe("x", {}, value);

        const counts = [...metrics.render().matchAll(/le="[^"]+"\} (\d)/gu)].map(([, count]) => Number(count));
        expect(counts).to.deep.equal(Array.from({ length: 22 }, (_, index) => (index < bucket ? 0 : 1)));
      });
    }

    for (let length = 0; length <= 13; length++) {
      it(`count each value from the first bound that is not below it, among ${length}`, () => {
        const metrics = Metrics.withBuckets(many.slice(0, length));

        for (let value = 0; value <= length; value++) metrics.observe("x", {}, value - 0.5);

        const counts = [...metrics.render().matchAll(/le="[^"]+"\} (\d+)/gu)].map(([, count]) => Number(count));
        expect(counts).to.deep.equal(Array.from({ length: length + 1 }, (_, index) => index + 1));
      });
    }

    it("count NaN at +Inf, and the sum is NaN from then on", () => {
      const metrics = Metrics.withBuckets([1]);

      metrics.observe("x", {}, 1);
      metrics.observe("x", {}, NaN);

      expect(metrics.render()).to.equal(
        '# TYPE x histogram\nx_bucket{le="1"} 1\nx_bucket{le="+Inf"} 2\nx_sum NaN\nx_count 2\n',
      );
    });
  });

  describe("an error", () => {
    const proto: unknown = JSON.parse('{"__proto__":"x"}');
    type Call = (metrics: Metrics) => void;
    const rows: readonly (readonly [string, string, Call, ...string[]])[] = [
      ["a name with a dash", "E_METRIC_NAME", (m) => m.increment("a-b"), '"a-b"'],
      ["a name starting with a digit", "E_METRIC_NAME", (m) => m.increment("1a")],
      ["an empty name", "E_METRIC_NAME", (m) => m.set("", {}, 1)],
      ["a name with a newline at its end", "E_METRIC_NAME", (m) => m.observe("a\n", {}, 1)],
      ["a name with letters outside ASCII", "E_METRIC_NAME", (m) => m.increment("größe")],
      ["a described name", "E_METRIC_NAME", (m) => m.describeCounter("a b", "")],
      ["a histogram beside its own bucket", "E_METRIC_NAME", beside("x_bucket", "x"), '"x"', "x_bucket"],
      ["a histogram beside its own sum", "E_METRIC_NAME", beside("x_sum", "x")],
      ["a histogram beside its own count", "E_METRIC_NAME", beside("x_count", "x")],
      ["a metric with the name of a histogram's bucket", "E_METRIC_NAME", after("x", "x_bucket"), '"x_bucket"'],
      ["a metric with the name of a histogram's sum", "E_METRIC_NAME", after("x", "x_sum")],
      ["a metric with the name of a histogram's count", "E_METRIC_NAME", after("x", "x_count")],
      ["the registry's own counter", "E_METRIC_NAME", (m) => m.increment("framework_metrics_overflow_total")],
      ["a label with a dash", "E_METRIC_LABEL", (m) => m.increment("a", { "b-c": 1 }), '"a"', '"b-c"'],
      ["a label starting with a digit", "E_METRIC_LABEL", (m) => m.increment("a", { "1b": 1 })],
      ["an empty label name", "E_METRIC_LABEL", (m) => m.increment("a", { "": 1 })],
      ["a label name with a newline at its end", "E_METRIC_LABEL", (m) => m.increment("a", { "b\n": 1 })],
      ["a label starting with two underscores", "E_METRIC_LABEL", (m) => m.increment("a", { __name: 1 }), "__name"],
      ["a label named __proto__", "E_METRIC_LABEL", (m) => m.increment("a", loose(proto)), "__proto__"],
      ["le on a histogram", "E_METRIC_LABEL", (m) => m.observe("a", { le: 1 }, 1), '"le"'],
      ["a label that is undefined", "E_METRIC_LABEL", (m) => m.increment("a", loose({ b: undefined })), "undefined"],
      ["a label that is null", "E_METRIC_LABEL", (m) => m.increment("a", loose({ b: null })), "null"],
      ["a label that is an object", "E_METRIC_LABEL", (m) => m.increment("a", loose({ b: {} })), "object"],
      ["a label that is a symbol", "E_METRIC_LABEL", (m) => m.increment("a", loose({ b: Symbol("s") })), "symbol"],
      ["a gauge that is a counter", "E_METRIC_KIND", kinds("increment", "set"), "counter", "gauge"],
      ["a counter that is a gauge", "E_METRIC_KIND", kinds("set", "increment")],
      ["a histogram that is a counter", "E_METRIC_KIND", kinds("increment", "observe")],
      ["a gauge that is a histogram", "E_METRIC_KIND", kinds("observe", "set")],
      ["a description of another kind", "E_METRIC_KIND", (m) => described(m).describeGauge("known_total", "")],
      ["a use of another kind than described", "E_METRIC_KIND", (m) => described(m).set("known_total", {}, 1)],
      ["a negative increment", "E_METRIC_VALUE", (m) => m.increment("a", {}, -1), "-1"],
      ["half an increment", "E_METRIC_VALUE", (m) => m.increment("a", {}, 0.5), "0.5"],
      ["an increment that is NaN", "E_METRIC_VALUE", (m) => m.increment("a", {}, NaN), "NaN"],
      ["an infinite increment", "E_METRIC_VALUE", (m) => m.increment("a", {}, Infinity), "Infinity"],
      ["a gauge that is text", "E_METRIC_VALUE", (m) => m.set("a", {}, loose("1\nb 2") as unknown as number)],
      ["an observation that is text", "E_METRIC_VALUE", (m) => m.observe("a", {}, loose("1") as unknown as number)],
    ];

    for (const [title, code, call, ...named] of rows) {
      it(`of ${title} has code ${code}`, () => {
        const error = errorOf(() => call(new Metrics()));

        expect(error).to.be.instanceOf(MetricsError).with.property("code", code);
        for (const part of named) expect(error.message).to.include(part);
      });
    }

    it("names metric and label", () => {
      const error = errorOf(() => new Metrics().increment("a", { "b-c": 1 }));

      expect(error).to.include({ metric: "a", label: "b-c" });
    });

    it("records no value and no name", () => {
      const metrics = new Metrics();

      for (const [, , call] of rows.filter(([, code]) => code === "E_METRIC_VALUE" || code === "E_METRIC_LABEL")) {
        errorOf(() => call(metrics));
      }

      expect(metrics.render()).to.equal("");
    });

    it("does not change the metric of the first kind", () => {
      const metrics = new Metrics();
      metrics.increment("a");

      errorOf(() => metrics.set("a", {}, 7));

      expect(metrics.render()).to.equal("# TYPE a counter\na 1\n");
    });

    it("is thrown by every call, not only by the first", () => {
      const metrics = new Metrics();
      metrics.increment("a");

      for (let count = 0; count < 3; count++) {
        expect(errorOf(() => metrics.increment("a", { le__: 1, "x y": 1 }))).to.be.instanceOf(MetricsError);
      }
    });

    it("is not thrown for the label le of a counter", () => {
      const metrics = new Metrics();

      metrics.increment("a", { le: "x" });

      expect(metrics.counterValue("a", { le: "x" })).to.equal(1);
    });

    for (const maxSeries of [0, -1, 1.5, NaN, Infinity]) {
      it(`is thrown for a maxSeries of ${maxSeries}`, () => {
        expect(errorOf(() => new Metrics({ maxSeries }))).to.have.property("code", "E_METRIC_VALUE");
      });
    }
  });

  describe("counterValue", () => {
    it("is undefined for an unknown counter or series, and creates neither", () => {
      const metrics = new Metrics();
      metrics.set("level", {}, 1);
      metrics.increment("a", { x: 1 });
      const before = metrics.render();

      expect(metrics.counterValue("b")).to.equal(undefined);
      expect(metrics.counterValue("a")).to.equal(undefined);
      expect(metrics.counterValue("a", { x: 2 })).to.equal(undefined);
      expect(metrics.counterValue("level")).to.equal(undefined);
      expect(metrics.counterValue("a", { "b-c": 1 })).to.equal(undefined);
      expect(metrics.render()).to.equal(before);
    });

    it("is undefined for invalid labels", () => {
      const metrics = new Metrics();
      metrics.increment("a", { x: "1", y: "2" });
      const hostile: readonly unknown[] = [
        { 'x="1",y': "2" },
        { x: { toString: fail } },
        Object.defineProperty({}, "x", { enumerable: true, get: fail }),
        { x: Symbol("x") },
        null,
      ];

      for (const labels of hostile) expect(metrics.counterValue("a", labels as Labels)).to.equal(undefined);
    });

    it("finds a series by labels in an order that was not counted before", () => {
      const metrics = new Metrics();
      metrics.increment("a", { x: 1, y: 2 }, 0);

      expect(metrics.counterValue("a", { y: "2", x: "1" })).to.equal(0);
    });
  });

  describe("the limit on series", () => {
    it("keeps the old series, drops new ones, and counts each lost value under the metric's name", () => {
      const metrics = new Metrics({ maxSeries: 2 });

      for (const user of ["a", "b", "c", "d", "a"]) metrics.increment("logins_total", { user }, 5);
      for (const user of ["a", "b", "c"]) metrics.set("level", { user }, 1);
      for (const user of ["a", "b", "c", "c"]) metrics.observe("wait", { user }, 1);

      expect(metrics.render()).to.include(
        [
          "# TYPE framework_metrics_overflow_total counter",
          'framework_metrics_overflow_total{metric="level"} 1',
          'framework_metrics_overflow_total{metric="logins_total"} 2',
          'framework_metrics_overflow_total{metric="wait"} 2',
          "# TYPE level gauge",
        ].join("\n"),
      );
      expect(metrics.counterValue("logins_total", { user: "a" })).to.equal(10);
      expect(metrics.counterValue("logins_total", { user: "c" })).to.equal(undefined);
      expect(metrics.counterValue("framework_metrics_overflow_total", { metric: "logins_total" })).to.equal(2);
      expectExposition(metrics.render());
    });

    it("shows no overflow metric before the first lost value", () => {
      const metrics = new Metrics({ maxSeries: 1 });

      metrics.increment("a", { x: 1 });
      metrics.increment("a", { x: 1 });

      expect(metrics.render()).not.to.include("overflow");
      expect(metrics.counterValue("framework_metrics_overflow_total", { metric: "a" })).to.equal(undefined);
    });

    it("counts sets of labels, not their orders", () => {
      const metrics = new Metrics({ maxSeries: 1 });

      metrics.increment("a", { x: 1, y: 2 });
      metrics.increment("a", { y: 2, x: 1 });
      metrics.increment("a", { y: "2", x: "1" });

      expect(metrics.counterValue("a", { x: 1, y: 2 })).to.equal(3);
    });

    it("does not apply to the overflow metric", () => {
      const metrics = new Metrics({ maxSeries: 1 });

      for (const name of ["a", "b", "c"]) {
        metrics.increment(name, { x: 1 });
        metrics.increment(name, { x: 2 });
      }

      for (const metric of ["a", "b", "c"]) {
        expect(metrics.counterValue("framework_metrics_overflow_total", { metric })).to.equal(1);
      }
    });

    it("is 10 000 by default", () => {
      const metrics = new Metrics();

      for (let user = 0; user < 10_005; user++) metrics.increment("a", { user });

      expect(metrics.counterValue("a", { user: 9999 })).to.equal(1);
      expect(metrics.counterValue("a", { user: 10_000 })).to.equal(undefined);
      expect(metrics.counterValue("framework_metrics_overflow_total", { metric: "a" })).to.equal(5);
    });

    it("holds for a million label values, and the rest is counted", function () {
      this.timeout(120_000);
      const metrics = new Metrics({ maxSeries: 10 });

      for (let user = 0; user < 1_000_000; user++) metrics.increment("a", { user: `u${user}` });

      expect(metrics.render().split("\n")).to.have.lengthOf(1 + 10 + 1 + 1 + 1);
      expect(metrics.counterValue("framework_metrics_overflow_total", { metric: "a" })).to.equal(999_990);
    });

    it("holds for series that a caller keeps and counts on directly", () => {
      const metrics = new Metrics({ maxSeries: 1 });
      const series = metrics.counter("a", { x: 1 });
      const lost = metrics.counter("a", { x: 2 });
      metrics.histogram("w", { x: 1 }).observe(1);
      const unseen = metrics.histogram("w", { x: 2 });

      series.value += 1;
      lost.value += 1;
      unseen.observe(1);
      unseen.observe(1);

      expect(metrics.counterValue("a", { x: 1 })).to.equal(1);
      expect(metrics.counterValue("framework_metrics_overflow_total", { metric: "a" })).to.equal(1);
      expect(metrics.counterValue("framework_metrics_overflow_total", { metric: "w" })).to.equal(2);
    });
  });

  it("shares a series between calls and code that keeps it", () => {
    const metrics = new Metrics();

    metrics.counter("a", { x: 1 }).value += 1;
    metrics.increment("a", { x: 1 });
    metrics.histogram("w", {}).observe(1);
    metrics.observe("w", {}, 1);

    expect(metrics.counterValue("a", { x: 1 })).to.equal(2);
    expect(metrics.render()).to.include("w_count 2\n");
  });

  it("responds with the exposition, its content type and no-store", async () => {
    const metrics = new Metrics();
    metrics.increment("a");

    const reply = await metrics.response();

    expect(reply).to.include({ statusCode: 200, type: PROMETHEUS_CONTENT_TYPE, body: metrics.render() });
    expect(reply.headers).to.deep.equal({ "Cache-Control": "no-store" });
  });
});

function beside(existing: string, histogram: string): (metrics: Metrics) => void {
  return (metrics) => {
    metrics.increment(existing);
    metrics.observe(histogram, {}, 1);
  };
}

function after(histogram: string, name: string): (metrics: Metrics) => void {
  return (metrics) => {
    metrics.describeHistogram(histogram, "");
    metrics.set(name, {}, 1);
  };
}

function kinds(first: "increment" | "set" | "observe", second: "increment" | "set" | "observe") {
  return (metrics: Metrics) => {
    metrics[first]("known", {}, 1);
    metrics[second]("known", {}, 1);
  };
}

function described(metrics: Metrics): Metrics {
  metrics.describeCounter("known_total", "Known.");
  return metrics;
}

/** JavaScript callers reach the checks, too. */
function loose(labels: unknown): Labels {
  return labels as Labels;
}
