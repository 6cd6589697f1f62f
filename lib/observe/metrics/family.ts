/**
 * A metric family: all series of one metric name, with its kind and its help text. A registry has one table of families for each kind.
 * Finding an existing series does not allocate.
 */
import { copyString } from "../copy-string.js";
import { type MetricKind, formatMetricHeader, checkMetricName } from "./exposition.js";
import { LabelTree, areWellFormed, checkLabels, type Labels, formatLabels } from "./labels.js";
import type { Series } from "./series.js";

/** The families of a registry, of all kinds. */
export type MetricNames = Map<string, MetricFamily<Series>>;

/** One metric: at most `maxSeries` series, sorted by their labels only when new ones were added. */
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
    private readonly createSeries: (labels: string) => S,
  ) {}

  /** The series of these labels, if the program has used them in this order before. */
  find(labels: Labels): S | undefined {
    return this.tree.find(labels);
  }

  /**
   * The series of these labels, in any order; `undefined` if there is none.
   *
   * @throws MetricsError `E_METRIC_LABEL`
   */
  peek(labels: Labels): S | undefined {
    checkLabels(this.name, labels, undefined);
    return this.tree.find(labels) ?? this.byText.get(formatLabels(labels));
  }

  /**
   * The series of these labels, created if there is none; `undefined` if the family is full.
   *
   * @throws MetricsError `E_METRIC_LABEL`
   */
  findOrCreate(labels: Labels): S | undefined {
    checkLabels(this.name, labels, this.kind === "histogram" ? "le" : undefined);
    const text = formatLabels(labels);
    const series = this.byText.get(text) ?? this.add(text);
    if (series !== undefined && areWellFormed(labels)) this.tree.add(labels, series);
    return series;
  }

  /** The lines before its samples. */
  header(): string {
    return formatMetricHeader(this.name, this.kind, this.help);
  }

  /** In the order of the exposition. The returned list does not change when series are added. */
  series(): readonly S[] {
    if (this.added.length > 0) {
      // Series that are in order already cost one comparison each.
      this.sorted = [...this.sorted, ...this.added].toSorted(compareLabels);
      this.added = [];
    }
    return this.sorted;
  }

  private add(text: string): S | undefined {
    if (this.byText.size >= this.maxSeries) return undefined;
    const labels = copyString(text);
    const series = this.createSeries(labels);
    this.byText.set(labels, series);
    this.added.push(series);
    return series;
  }
}

function compareLabels(left: Series, right: Series): number {
  return left.labels < right.labels ? -1 : 1;
}

/** The families of one kind. All tables of a registry share one map of names, because a name has one kind. */
export class FamilyTable<S extends Series> {
  private readonly families = new Map<string, MetricFamily<S>>();
  // Calls often repeat the last name, and a comparison costs a third of a lookup.
  private last: MetricFamily<S> | undefined = undefined;

  constructor(
    private readonly names: MetricNames,
    private readonly kind: MetricKind,
    private readonly maxSeries: number,
    private readonly createSeries: (name: string, labels: string) => S,
  ) {}

  /** The series of these labels, if the program has used them in this order before. */
  find(name: string, labels: Labels): S | undefined {
    if (name !== this.last?.name) this.last = this.families.get(name);
    return this.last?.find(labels);
  }

  /** The series of these labels, in any order; `undefined` if there is none. */
  peek(name: string, labels: Labels): S | undefined {
    return this.families.get(name)?.peek(labels);
  }

  /**
   * The series of these labels. Creates the family and the series if there are none; `undefined` if the family is full.
   *
   * @throws MetricsError In this case it creates no family and no series.
   */
  findOrCreate(name: string, labels: Labels): S | undefined {
    const family = this.findOrCreateFamily(name);
    const series = family.findOrCreate(labels);
    this.store(family);
    return series;
  }

  describe(name: string, help: string): void {
    const family = this.findOrCreateFamily(name);
    family.help = help;
    this.store(family);
  }

  private findOrCreateFamily(name: string): MetricFamily<S> {
    const known = this.families.get(name);
    if (known !== undefined) return known;
    checkMetricName(this.names, name, this.kind);
    return new MetricFamily(name, this.kind, this.maxSeries, (labels) => this.createSeries(name, labels));
  }

  private store(family: MetricFamily<S>): void {
    this.families.set(family.name, family);
    this.names.set(family.name, family);
  }
}
