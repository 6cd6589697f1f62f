/**
 * The metrics of all workers, in their parent. Counters and histograms are sums of all reports and never fall; a gauge is merged by its
 * rule from the workers that live. No label names a worker, because each worker that ever ran would be a series.
 *
 * Workers of two releases may disagree about a metric during a rolling restart. The metric stays as it is while a living worker has
 * reported it so; the values of the other workers are lost until then. `framework_metrics_overflow_total{metric="…"}` counts lost values.
 */
import type { FamilyDelta, MetricsDelta } from "./delta.js";
import { checkMetricName, OVERFLOW_METRIC } from "./exposition.js";
import { formatLabels } from "./labels.js";
import { MergedFamily } from "./merged-family.js";
import { readReport } from "./report.js";
import { renderFamilies } from "./series-list.js";

const MAX_FAMILIES = 20_000;
const NO_BOUNDS = new Float64Array(0);

/** `lost`: this report is broken, or one before it is missing, and its values are lost. `ignored`: the message is no report. */
export type ReportOutcome = "added" | "repeated" | "lost" | "ignored";

export class MergedMetrics {
  private readonly families = new Map<string, MergedFamily>();
  private readonly workers = new Map<number, WorkerReports>();

  /** @param maxSeries of one metric, of all workers together */
  constructor(private readonly maxSeries: number) {}

  /** Adds the report of a worker, whose message may be anything. */
  receive(worker: number, message: unknown): ReportOutcome {
    const report = readReport(message);
    if (report === undefined) return "ignored";
    const { sequence, isLast, delta } = report;
    const known = this.workers.get(worker) ?? { sequence: 0, hasEnded: false };
    this.workers.set(worker, known);
    if (sequence <= known.sequence) return "repeated";
    const isNext = sequence === known.sequence + 1;
    known.sequence = sequence;
    known.hasEnded = isLast && delta !== undefined;
    if (delta !== undefined) this.add(worker, delta);
    return isNext && delta !== undefined ? "added" : "lost";
  }

  /** Removes the gauges of a worker that has ended. True if its last report has arrived. */
  remove(worker: number): boolean {
    const hasEnded = this.workers.get(worker)?.hasEnded === true;
    this.workers.delete(worker);
    for (const family of this.families.values()) family.removeWorker(worker);
    return hasEnded;
  }

  /** Adds changes that are valid. */
  add(worker: number, { bounds, families }: MetricsDelta): void {
    for (const delta of families) {
      const family = this.findFamily(worker, delta, bounds);
      family?.workers.add(worker);
      if (family !== undefined) Object.assign(family, { help: delta.help, rule: delta.rule });
      this.addValues(worker, delta, family, delta.kind === "histogram" ? bounds.length + 2 : 1);
    }
  }

  /** The exposition of all workers in pieces, each series whole. */
  texts(): Generator<string, void> {
    return renderFamilies(this.families);
  }

  private addValues(worker: number, delta: FamilyDelta, family: MergedFamily | undefined, size: number): void {
    const { labels, values } = delta;
    for (const [index, text] of labels.entries()) {
      const series = family?.findOrCreate(text);
      const at = index * size;
      if (series === undefined) this.countLost(delta.name, size === 1 ? 1 : sum(values.subarray(at, at + size - 1)));
      else series.add(values, at, worker);
    }
  }

  /** The family of these changes, created if there is none; `undefined` if it cannot be added to the others. */
  private findFamily(worker: number, { name, kind }: FamilyDelta, bounds: Float64Array): MergedFamily | undefined {
    const known = this.families.get(name);
    if (known?.isLike(kind, bounds) === true) return known;
    if (name === OVERFLOW_METRIC) return kind === "counter" ? this.getOverflow() : undefined;
    if (known !== undefined && isUsedByOthers(known, worker)) return undefined;
    if (known === undefined && this.families.size >= MAX_FAMILIES) return undefined;
    this.families.delete(name);
    try {
      checkMetricName(this.families, name, kind);
    } catch {
      if (known !== undefined) this.families.set(name, known);
      return undefined;
    }
    const family = new MergedFamily(name, kind, Float64Array.from(bounds), this.maxSeries);
    this.families.set(name, family);
    return family;
  }

  private countLost(metric: string, values: number): void {
    this.getOverflow().findOrCreate(formatLabels({ metric }))?.add(Float64Array.of(values), 0, 0);
  }

  private getOverflow(): MergedFamily {
    const known = this.families.get(OVERFLOW_METRIC);
    if (known !== undefined) return known;
    const family = new MergedFamily(OVERFLOW_METRIC, "counter", NO_BOUNDS, MAX_FAMILIES);
    this.families.set(OVERFLOW_METRIC, family);
    return family;
  }
}

interface WorkerReports {
  /** The number of the newest report; 0 before the first. */
  sequence: number;
  hasEnded: boolean;
}

function isUsedByOthers({ workers }: MergedFamily, worker: number): boolean {
  return workers.size > (workers.has(worker) ? 1 : 0);
}

function sum(counts: Float64Array): number {
  return counts.reduce((total, count) => total + count, 0);
}
