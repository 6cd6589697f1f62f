import { expect } from "chai";
import * as fc from "fast-check";
import { type Labels, Metrics } from "../../../lib/observe/metrics/metrics.js";
import { expectExposition } from "../../../lib/testing/expect-exposition.js";
import { anyText } from "../../support/any-text.js";

const metricName = fc.stringMatching(/^[abAB_:][abAB_:19]{0,6}$/u);
const labelName = fc.stringMatching(/^[abAB][abAB_19]{0,6}$/u);
const hostile = fc.string({
  unit: fc.constantFrom('"', "\\", "\n", "\r", "n", ",", "{", "}", "=", " ", "é", "\ud800", "😀"),
});
const labels: fc.Arbitrary<Labels> = fc.dictionary(labelName, fc.oneof(hostile, anyText(), fc.double(), fc.boolean()), {
  maxKeys: 4,
  noNullPrototype: true,
});
const number = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(NaN, Infinity, -Infinity, -0));
const use = fc.record({
  kind: fc.constantFrom("increment", "set", "observe"),
  name: metricName,
  labels: fc.array(labels, { maxLength: 4 }),
  value: number,
  help: fc.option(hostile),
});

describe("the exposition of any registry", () => {
  it("is sorted and escaped, has one type for each metric, cumulative buckets and the shortest numbers", () => {
    fc.assert(
      fc.property(fc.array(use), fc.array(number), (uses, bounds) => {
        const metrics = Metrics.withBuckets(bounds, { maxSeries: 3 });
        for (const { kind, name, labels: sets, value, help } of uses) {
          // A second kind for a name throws, which is not the subject here.
          const own = `${name}_${kind}`;
          if (help !== null) describeAs(metrics, kind, own, help);
          for (const set of sets) count(metrics, kind, own, set, value);
        }

        expectExposition(metrics.render());
      }),
    );
  });

  it("can be parsed back to the counted labels", () => {
    fc.assert(
      fc.property(fc.dictionary(labelName, hostile, { maxKeys: 4, noNullPrototype: true }), (set) => {
        const metrics = new Metrics();

        metrics.increment("a", set);

        const [, , text = ""] = /^# TYPE a counter\na(\{(.*)\})? 1\n$/su.exec(metrics.render()) ?? ["", "", "no match"];
        const sorted = Object.keys(set).toSorted();
        expect(readLabels(text)).to.deep.equal(sorted.map((name) => [name, wellFormed(set[name] ?? "")]));
      }),
    );
  });

  it("is the same for each order of calls and labels", () => {
    fc.assert(
      fc.property(fc.uniqueArray(labels, { maxLength: 6, selector: (set) => JSON.stringify(set) }), (sets) => {
        const forward = new Metrics();
        const backward = new Metrics();

        for (const set of sets) forward.increment("a", set);
        for (const set of sets.toReversed())
          backward.increment("a", Object.fromEntries(Object.entries(set).toReversed()));

        expect(backward.render()).to.equal(forward.render());
      }),
    );
  });
});

function describeAs(metrics: Metrics, kind: "increment" | "set" | "observe", name: string, help: string): void {
  if (kind === "increment") metrics.describeCounter(name, help);
  else if (kind === "set") metrics.describeGauge(name, help);
  else metrics.describeHistogram(name, help);
}

function count(
  metrics: Metrics,
  kind: "increment" | "set" | "observe",
  name: string,
  set: Labels,
  value: number,
): void {
  if (kind === "increment") metrics.increment(name, set, Number.isSafeInteger(value) ? Math.abs(value) : 1);
  else metrics[kind](name, set, value);
}

/** Parses character by character, which is independent of the way in which the library writes. */
function readLabels(text: string): readonly (readonly [string, string])[] {
  const found: [string, string][] = [];
  for (let at = 0; at < text.length; at++) {
    const equals = text.indexOf("=", at);
    const name = text.slice(at, equals);
    let value = "";
    for (at = equals + 2; text[at] !== '"'; at++) {
      if (text[at] !== "\\") value += text[at];
      else value += text[++at] === "n" ? "\n" : text[at];
    }
    found.push([name, value]);
    at++;
  }
  return found;
}

function wellFormed(text: string): string {
  return Buffer.from(text).toString();
}
