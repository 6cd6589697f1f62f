/**
 * Judges a metrics page: grammar, and everything this framework promises of it beyond the grammar. Metrics in name order, each under
 * its one `# TYPE`; samples under their own metric, in the order of their labels, none twice; labels sorted, `le` last; histograms
 * cumulative, up to `+Inf`, agreeing with their `_count`. For pages of this framework: another exporter may order its lines freely.
 *
 * @example
 * expectExposition(await (await app.get("/metrics")).text());
 */
import { faultAt, type Family, type Label, parseExposition, type Sample } from "./parse-exposition.js";

/** @throws Error naming the first line at fault and what is wrong with it. */
export function expectExposition(text: string): void {
  let before = "";
  for (const family of parseExposition(text)) {
    if (family.name <= before)
      throw faultAt(family.line, `${family.name} comes after ${before}: once each, in name order`);
    before = family.name;
    for (const sample of family.samples) expectLabelOrder(sample);
    if (family.kind === "histogram") expectHistogram(family);
    else expectValues(family);
  }
}

function expectLabelOrder({ labels, line }: Sample): void {
  const names = labels.map(({ name }) => name).filter((name, index) => name !== "le" || index < labels.length - 1);
  const sorted = [...new Set(names)].toSorted();
  if (names.join() !== sorted.join()) throw faultAt(line, "labels come sorted by name, each once, le last");
}

function expectValues({ name, kind, samples }: Family): void {
  expectSeriesOrder(samples);
  for (const sample of samples) {
    if (sample.name !== name) throw faultAt(sample.line, `the sample is not of ${name}, whose lines these are`);
    const isCount = Number(sample.value) >= 0 && sample.value !== "+Inf";
    if (kind === "counter" && !isCount) throw faultAt(sample.line, "a counter is a finite number of at least 0");
  }
}

function expectSeriesOrder(samples: readonly Sample[]): void {
  let before: string | undefined;
  for (const { labels, line } of samples) {
    const text = textOf(labels);
    if (before !== undefined && text <= before)
      throw faultAt(line, "series come in the order of their labels, each once");
    before = text;
  }
}

function expectHistogram({ name, line, samples }: Family): void {
  const sums: Sample[] = [];
  let buckets: Sample[] = [];
  let sum: Sample | undefined;
  for (const sample of samples) {
    if (sample.name === `${name}_bucket` && sum === undefined) buckets.push(sample);
    else if (sample.name === `${name}_sum` && sum === undefined) sum = sample;
    else if (sample.name === `${name}_count` && sum !== undefined) {
      expectBuckets(buckets, sum, sample);
      sums.push(sum);
      [buckets, sum] = [[], undefined];
    } else throw faultAt(sample.line, `expected the buckets of a series of ${name}, its _sum, its _count`);
  }
  if (buckets.length > 0 || sum !== undefined)
    throw faultAt(line, `the last series of ${name} has no _sum or no _count`);
  expectSeriesOrder(sums);
}

function expectBuckets(buckets: readonly Sample[], sum: Sample, count: Sample): void {
  const labels = textOf(sum.labels);
  let bound = -Infinity;
  let total = 0;
  for (const { labels: own, value, line } of buckets) {
    const le = own.at(-1);
    if (le?.name !== "le" || textOf(own.slice(0, -1)) !== labels)
      throw faultAt(line, "a bucket has its series' labels and le");
    const next = boundOf(le);
    if (!(next > bound)) throw faultAt(line, "the bounds of buckets ascend");
    if (!/^\d+$/u.test(value) || Number(value) < total) throw faultAt(line, "buckets are cumulative counts");
    [bound, total] = [next, Number(value)];
  }
  if (bound !== Infinity) throw faultAt(sum.line, 'the buckets before it do not end with le="+Inf"');
  if (textOf(count.labels) !== labels) throw faultAt(count.line, "_sum and _count have the same labels");
  if (Number(count.value) !== total)
    throw faultAt(count.line, `_count differs from the +Inf bucket, which is ${total}`);
}

function boundOf({ value }: Label): number {
  return value === "+Inf" ? Infinity : Number(value);
}

function textOf(labels: readonly Label[]): string {
  return labels.map(({ text }) => text).join(",");
}
