/**
 * A metric family: all series of one metric name, with its kind and its help text. A registry has one table of families for each kind.
 * Finding an existing series does not allocate.
 */
import { type MetricKind, checkMetricName } from "./exposition.js";
import { LabelTree, areWellFormed, checkLabels, type Labels, formatLabels } from "./labels.js";
import { SeriesList } from "./series-list.js";
import type { Series } from "./series.js";

/** The value of a gauge over all workers: the sum of their values, the maximum or the minimum. */
export type GaugeRule = "sum" | "max" | "min";

/** The families of a registry, of all kinds. */
export type MetricNames = Map<string, MetricFamily<Series>>;

/** One metric of a registry. */
export class MetricFamily<S extends Series> extends SeriesList<S> {
  /** For gauges. */
  rule: GaugeRule = "sum";
  private readonly tree = new LabelTree<S>();

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

  describe(name: string, help: string, rule: GaugeRule = "sum"): void {
    const family = this.findOrCreateFamily(name);
    Object.assign(family, { help, rule });
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
