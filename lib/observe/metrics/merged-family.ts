/** One metric of all workers: its series add what the workers report, and a gauge has the value of each worker. */
import { type MetricKind, formatNumber } from "./exposition.js";
import type { GaugeRule } from "./family.js";
import { isLabelText } from "./labels.js";
import { Buckets, HistogramSeries, type Series, ValueSeries } from "./series.js";
import { SeriesList } from "./series-list.js";

interface MergedSeries extends Series {
  /** Adds the report of a worker: the values from the index `at` on. */
  add(values: Float64Array, at: number, worker: number): void;
}

export class MergedFamily extends SeriesList<MergedSeries> {
  rule: GaugeRule = "sum";
  /** Those that have reported this metric and live. */
  readonly workers = new Set<number>();

  constructor(
    name: string,
    kind: MetricKind,
    private readonly bounds: Float64Array,
    maxSeries: number,
  ) {
    const buckets = new Buckets([...bounds]);
    super(name, kind, maxSeries, (labels) => {
      if (kind === "histogram") return new HistogramSeries(name, labels, buckets);
      return kind === "counter" ? new MergedCounter(name, labels) : new MergedGauge(name, labels, this);
    });
  }

  /** The number of values of each series. */
  get size(): number {
    return this.kind === "histogram" ? this.bounds.length + 2 : 1;
  }

  isLike(kind: MetricKind, bounds: Float64Array): boolean {
    if (this.kind !== kind) return false;
    return (
      kind !== "histogram" ||
      (bounds.length === this.bounds.length && bounds.every((one, at) => one === this.bounds[at]))
    );
  }

  /** `undefined` if the family is full, or the text is not that of labels. */
  findOrCreate(labels: string): MergedSeries | undefined {
    const known = this.byText.get(labels);
    if (known !== undefined) return known;
    return isLabelText(labels, this.kind === "histogram" ? "le" : undefined) ? this.add(labels) : undefined;
  }

  /** Removes the gauges of a worker that has ended. Its counters stay. */
  removeWorker(worker: number): void {
    if (!this.workers.delete(worker) || this.kind !== "gauge") return;
    const unused = new Set<MergedSeries>();
    for (const series of this.inOrderOfCreation())
      if (series instanceof MergedGauge && series.isUnusedWithout(worker)) unused.add(series);
    if (unused.size > 0) this.remove(unused);
  }
}

class MergedCounter extends ValueSeries implements MergedSeries {
  add(values: Float64Array, at: number): void {
    this.value += values[at] ?? 0;
  }
}

class MergedGauge implements MergedSeries {
  private readonly values = new Map<number, number>();

  constructor(
    private readonly name: string,
    readonly labels: string,
    private readonly family: { readonly rule: GaugeRule },
  ) {}

  get size(): number {
    return 1;
  }

  add(values: Float64Array, at: number, worker: number): void {
    this.values.set(worker, values[at] ?? 0);
  }

  copyTo(target: Float64Array, at: number): void {
    target[at] = this.merge();
  }

  render(): string {
    const head = this.labels === "" ? this.name : `${this.name}{${this.labels}}`;
    return `${head} ${formatNumber(this.merge())}\n`;
  }

  /** Removes the value of a worker. True if no other worker has one. */
  isUnusedWithout(worker: number): boolean {
    this.values.delete(worker);
    return this.values.size === 0;
  }

  private merge(): number {
    const values = [...this.values.values()];
    if (this.family.rule === "sum") return values.reduce((sum, value) => sum + value, 0);
    const numbers = values.filter((value) => !Number.isNaN(value));
    if (numbers.length === 0) return Number.NaN;
    return this.family.rule === "max" ? Math.max(...numbers) : Math.min(...numbers);
  }
}
