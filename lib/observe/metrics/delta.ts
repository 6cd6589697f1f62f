/**
 * The changes of a registry since the last report: counters and histograms as differences, gauges as values. A worker sends them to its
 * parent, which adds them to those of the other workers. A reader compares each series with its last report, so that counting costs
 * nothing; 10 000 histograms without a change take a millisecond.
 */
import type { MetricKind } from "./exposition.js";
import type { GaugeRule, MetricFamily, MetricNames } from "./family.js";
import type { Series } from "./series.js";

/** The changes of one metric. Without labels it only describes the metric. */
export interface FamilyDelta {
  readonly name: string;
  readonly kind: MetricKind;
  readonly help: string;
  readonly rule: GaugeRule;
  /** The texts of the labels of the series that have changed. */
  readonly labels: readonly string[];
  /** For each series one value, or those of a histogram: a count for each bucket, and the sum. */
  readonly values: Float64Array;
}

/** A part of the changes of a registry, of about 64 KiB. */
export interface MetricsDelta {
  /** The upper bounds of all histograms, without `+Inf`. */
  readonly bounds: Float64Array;
  readonly families: readonly FamilyDelta[];
}

const SLICE_BYTES = 1 << 16;
/** The approximate size of the parts of a family that are not series. */
const FAMILY_BYTES = 256;

export class DeltaReader {
  private readonly reported = new Map<string, ReportedFamily>();

  /** @param bounds of all histograms of the registry */
  constructor(
    private readonly names: MetricNames,
    private readonly bounds: Float64Array,
    private readonly sliceBytes = SLICE_BYTES,
  ) {}

  /**
   * The changes since the last call. Each part is read when it is asked for and counts as reported then. There is at least one part, and it
   * is empty where nothing has changed.
   */
  *take(): Generator<MetricsDelta, void> {
    const slice = new Slice(this.bounds);
    // Metrics of this time, so that the loop ends.
    const families = [...this.names.values()];
    for (const family of families) {
      const reported = this.reported.get(family.name) ?? new ReportedFamily();
      this.reported.set(family.name, reported);
      if (reported.describes(family)) slice.open(family);
      const changes = reported.readChanges(family, slice);
      do {
        if (slice.bytes >= this.sliceBytes) yield slice.flush();
      } while (changes.next().done !== true);
    }
    yield slice.flush();
  }
}

/** The values of one metric in the last report. */
class ReportedFamily {
  private description = "";
  private values = new Float64Array(0);
  /** The number of series in the last report. A registry does not remove series, and their order of creation is stable. */
  private count = 0;

  /** True if the description has changed. */
  describes({ help, rule }: MetricFamily<Series>): boolean {
    const description = `${rule} ${help}`;
    const hasChanged = description !== this.description;
    this.description = description;
    return hasChanged;
  }

  /** Adds each series that has changed to the slice, and yields after it. */
  *readChanges(family: MetricFamily<Series>, slice: Slice): Generator<undefined, void> {
    let index = 0;
    let change = new Float64Array(0);
    for (const series of family.inOrderOfCreation()) {
      if (change.length === 0) change = new Float64Array(series.size);
      const isNew = index === this.count;
      if (isNew) this.reserve(++this.count * change.length);
      if (this.readChange(series, index++, change, family.kind) || isNew) {
        slice.add(family, series.labels, change);
        yield;
      }
    }
  }

  /** Writes the change of the series to `change`. True if there is one. */
  private readChange(series: Series, index: number, change: Float64Array, kind: MetricKind): boolean {
    const { values } = this;
    const start = index * change.length;
    let hasChanged = false;
    series.copyTo(change, 0);
    for (let at = 0; at < change.length; at++) {
      const now = change[at] ?? 0;
      const last = values[start + at] ?? 0;
      const isSame = Object.is(now, last);
      if (!isSame) hasChanged = true;
      values[start + at] = now;
      // The difference of two equal infinities is NaN.
      if (kind !== "gauge") change[at] = isSame ? 0 : now - last;
    }
    return hasChanged;
  }

  private reserve(length: number): void {
    if (length <= this.values.length) return;
    const grown = new Float64Array(Math.max(length, 2 * this.values.length));
    grown.set(this.values);
    this.values = grown;
  }
}

interface OpenFamily extends Omit<FamilyDelta, "values"> {
  readonly labels: string[];
  readonly values: number[];
}

class Slice {
  bytes = 0;
  private families: OpenFamily[] = [];

  constructor(private readonly bounds: Float64Array) {}

  /** The part of the slice for this metric, which is the last one. */
  open({ name, kind, help, rule }: MetricFamily<Series>): OpenFamily {
    const last = this.families.at(-1);
    if (last?.name === name) return last;
    const family = { name, kind, help, rule, labels: [], values: [] };
    this.families.push(family);
    this.bytes += FAMILY_BYTES;
    return family;
  }

  add(family: MetricFamily<Series>, labels: string, change: Float64Array): void {
    const open = this.open(family);
    open.labels.push(labels);
    for (const value of change) open.values.push(value);
    this.bytes += labels.length + change.byteLength;
  }

  flush(): MetricsDelta {
    const families = this.families.map((family) => ({ ...family, values: Float64Array.from(family.values) }));
    this.families = [];
    this.bytes = 0;
    return { bounds: this.bounds, families };
  }
}
