/**
 * Everything under one metric name: its kind, its help, and its series, at most `maxSeries` of them.
 * Finding a known series allocates nothing; the order is made only of what was added since.
 */
import { copiedString } from "../copied-string.js";
import { type MetricKind, metricHeader, checkMetricName } from "./exposition.js";
import { LabelTree, areWellFormed, checkLabels, type Labels, labelText } from "./labels.js";
import type { Series } from "./series.js";

export class MetricFamily<S extends Series> {
  help = "";
  private readonly tree = new LabelTree<S>();
  private readonly byText = new Map<string, S>();
  private sorted: readonly S[] = [];
  private added: S[] = [];

  constructor(
    readonly name: string,
    readonly kind: MetricKind,
    private readonly maxSeries: number,
    private readonly make: (labels: string) => S,
  ) {}

  /** The series of these labels as this program has written them before. */
  find(labels: Labels): S | undefined {
    return this.tree.find(labels);
  }

  /**
   * The series of these labels in whatever order; it is not made where it is missing.
   *
   * @throws MetricsError `E_METRIC_LABEL`
   */
  peek(labels: Labels): S | undefined {
    checkLabels(this.name, labels, undefined);
    return this.tree.find(labels) ?? this.byText.get(labelText(labels));
  }

  /**
   * The series of these labels, made where it is missing; `undefined` where that would be one too many.
   *
   * @throws MetricsError `E_METRIC_LABEL`
   */
  admit(labels: Labels): S | undefined {
    checkLabels(this.name, labels, this.kind === "histogram" ? "le" : undefined);
    const text = labelText(labels);
    const series = this.byText.get(text) ?? this.add(text);
    if (series !== undefined && areWellFormed(labels)) this.tree.add(labels, series);
    return series;
  }

  /** What stands before its samples. */
  open(): string {
    return metricHeader(this.name, this.kind, this.help);
  }

  /** In the order of the exposition. What is added later makes another list. */
  series(): readonly S[] {
    if (this.added.length > 0) {
      // What is in order already costs a comparison each.
      this.sorted = [...this.sorted, ...this.added].toSorted(byLabels);
      this.added = [];
    }
    return this.sorted;
  }

  private add(text: string): S | undefined {
    if (this.byText.size >= this.maxSeries) return undefined;
    const labels = copiedString(text);
    const series = this.make(labels);
    this.byText.set(labels, series);
    this.added.push(series);
    return series;
  }
}

function byLabels(left: Series, right: Series): number {
  return left.labels < right.labels ? -1 : 1;
}

// The metrics of one kind in a registry, by name. All tables of a registry share one map of names, because a name has one kind.

/** Every metric of a registry, of whatever kind. */
export type MetricNames = Map<string, MetricFamily<Series>>;

export class FamilyTable<S extends Series> {
  private readonly families = new Map<string, MetricFamily<S>>();
  /** Calls come in runs of one name; comparing is a third of the price of looking up. */
  private last: MetricFamily<S> | undefined = undefined;

  constructor(
    private readonly names: MetricNames,
    private readonly kind: MetricKind,
    private readonly maxSeries: number,
    private readonly make: (name: string, labels: string) => S,
  ) {}

  /** The series of these labels as this program has written them before. */
  find(name: string, labels: Labels): S | undefined {
    if (name !== this.last?.name) this.last = this.families.get(name);
    return this.last?.find(labels);
  }

  /** The series of these labels in whatever order; nothing is made. */
  peek(name: string, labels: Labels): S | undefined {
    return this.families.get(name)?.peek(labels);
  }

  /** The series of these labels, name and series made where they are missing; `undefined` at the cap. After a throw nothing is. */
  admit(name: string, labels: Labels): S | undefined {
    const family = this.family(name);
    const series = family.admit(labels);
    this.keep(family);
    return series;
  }

  describe(name: string, help: string): void {
    const family = this.family(name);
    family.help = help;
    this.keep(family);
  }

  private family(name: string): MetricFamily<S> {
    const known = this.families.get(name);
    if (known !== undefined) return known;
    checkMetricName(this.names, name, this.kind);
    return new MetricFamily(name, this.kind, this.maxSeries, (labels) => this.make(name, labels));
  }

  private keep(family: MetricFamily<S>): void {
    this.families.set(family.name, family);
    this.names.set(family.name, family);
  }
}
