/**
 * One series: the values of one metric name and one set of labels. A series writes its lines of the exposition. `MetricFamily` creates
 * series; code on a hot path may keep one and count on it directly, which is the cheapest way.
 */
import { formatNumber } from "./exposition.js";

export interface Series {
  /** The text of the labels without braces. It identifies the series, and series are sorted by it. */
  readonly labels: string;
  /** The number of values that `copyTo` writes. */
  readonly size: number;
  /** Writes its values to `target`, from the index `at` on. */
  copyTo(target: Float64Array, at: number): void;
  /** The lines of the exposition, each with a newline at its end. */
  render(): string;
}

/** A counter's or a gauge's series. */
export class ValueSeries implements Series {
  value = 0;
  private readonly head: string;

  constructor(
    name: string,
    readonly labels: string,
  ) {
    this.head = labels === "" ? `${name} ` : `${name}{${labels}} `;
  }

  get size(): number {
    return 1;
  }

  copyTo(target: Float64Array, at: number): void {
    target[at] = this.value;
  }

  render(): string {
    return this.head + formatNumber(this.value) + "\n";
  }
}

/** An object that takes observed values. */
export interface Observer {
  observe(value: number): void;
}

/** The bounds that one comparison skips. With the usual eleven bounds, six comparisons are enough. */
const STRIDE = 4;

/** A histogram's series: the sum, and a count for each bucket. A value counts in the first bucket whose bound is not below it. */
export class HistogramSeries implements Series, Observer {
  private readonly bounds: Float64Array;
  private readonly counts: Float64Array;
  private sum = 0;

  constructor(
    private readonly name: string,
    readonly labels: string,
    private readonly buckets: Buckets,
  ) {
    this.bounds = buckets.bounds;
    this.counts = new Float64Array(buckets.bounds.length + 1);
  }

  observe(value: number): void {
    const { counts } = this;
    const bucket = this.findBucket(value);
    counts[bucket] = (counts[bucket] ?? 0) + 1;
    this.sum += value;
  }

  /** The counts of the buckets, each without those below it, and the sum. */
  get size(): number {
    return this.counts.length + 1;
  }

  copyTo(target: Float64Array, at: number): void {
    target.set(this.counts, at);
    target[at + this.counts.length] = this.sum;
  }

  /** Adds values that `copyTo` of a series with the same bounds has written. */
  add(values: Float64Array, at: number): void {
    const { counts } = this;
    for (let bucket = 0; bucket < counts.length; bucket++)
      counts[bucket] = (counts[bucket] ?? 0) + (values[at + bucket] ?? 0);
    this.sum += values[at + counts.length] ?? 0;
  }

  /** The number of bounds below the value. There are no branches, because a mispredicted branch costs more than a few comparisons. */
  private findBucket(value: number): number {
    const { bounds } = this;
    const { length } = bounds;
    let bucket = 0;
    for (let at = STRIDE - 1; at < length; at += STRIDE) bucket += STRIDE * isAbove(value, bounds[at] ?? 0);
    const end = Math.min(bucket + STRIDE, length);
    for (let at = bucket; at < end; at++) bucket += isAbove(value, bounds[at] ?? 0);
    return bucket;
  }

  render(): string {
    const { name, labels, counts } = this;
    const head = labels === "" ? `${name}_bucket{` : `${name}_bucket{${labels},`;
    const tail = labels === "" ? " " : `{${labels}} `;
    const pieces: string[] = [];
    let total = 0;
    for (let bucket = 0; bucket < counts.length; bucket++) {
      total += counts[bucket] ?? 0;
      pieces.push(head, this.buckets.texts[bucket] ?? "", String(total), "\n");
    }
    pieces.push(`${name}_sum${tail}${formatNumber(this.sum)}\n${name}_count${tail}${String(total)}\n`);
    // One flat text for each series. Thousands of concatenations as one tree survive garbage collections and cost three times as much.
    return pieces.join("");
  }
}

/** 1 or 0. NaN, for which each comparison is false, is above every bound. */
function isAbove(value: number, bound: number): number {
  return Number(!(value <= bound));
}

/** The upper bounds of a registry's histograms. */
export class Buckets {
  /** Without `+Inf`, which each histogram has. */
  readonly bounds: Float64Array;
  /** The bounds as text, `+Inf` last. */
  readonly texts: readonly string[];

  /** @param bounds In any order. Duplicates and non-finite ones are dropped. */
  constructor(bounds: readonly number[]) {
    this.bounds = Float64Array.from(new Set(bounds.filter(Number.isFinite))).toSorted();
    this.texts = [...this.bounds, Infinity].map((bound) => `le="${formatNumber(bound)}"} `);
  }
}
