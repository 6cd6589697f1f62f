/**
 * One series: what is counted, under one name and one set of labels. It knows its own lines of the exposition.
 * Made by a `MetricFamily`; whoever holds one may count on it directly, which is as cheap as counting gets.
 */
import { formatNumber } from "./exposition.js";

export interface Series {
  /** The labels' text, without braces: identity and place in the order. */
  readonly labels: string;
  /** The lines, each ended by a newline. */
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

  render(): string {
    return this.head + formatNumber(this.value) + "\n";
  }
}

/** Something that takes observations. */
export interface Observer {
  observe(value: number): void;
}

/** Bounds that are passed over at once: with eleven, the usual number, six comparisons are enough. */
const STRIDE = 4;

/** A histogram's series: a count a bucket and the sum. A value counts in the first bucket whose bound it does not exceed. */
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
    const bucket = this.bucketOf(value);
    counts[bucket] = (counts[bucket] ?? 0) + 1;
    this.sum += value;
  }

  /** How many bounds the value exceeds: counted, not searched for, because a wrong guess of the processor costs more than a few comparisons. */
  private bucketOf(value: number): number {
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
    // One flat text a series: thousands of them as one rope would live through collections, at three times the price.
    return pieces.join("");
  }
}

/** 1 or 0. NaN, which compares with nothing, is above every bound. */
function isAbove(value: number, bound: number): number {
  return Number(!(value <= bound));
}

/** The upper bounds of a registry's histograms. */
export class Buckets {
  /** `+Inf`, which is always there, is not among them. */
  readonly bounds: Float64Array;
  /** The bounds as they are written, `+Inf` the last. */
  readonly texts: readonly string[];

  /** Bounds are sorted; duplicates and non-finite ones are dropped. */
  constructor(bounds: readonly number[]) {
    this.bounds = Float64Array.from(new Set(bounds.filter(Number.isFinite))).toSorted();
    this.texts = [...this.bounds, Infinity].map((bound) => `le="${formatNumber(bound)}"} `);
  }
}
