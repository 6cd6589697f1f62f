/**
 * The metrics of one kind in a registry, by name. All tables of a registry share one map of names, because a name has one kind.
 */
import type { MetricKind } from "./exposition.js";
import type { Labels } from "./labels.js";
import { MetricFamily } from "./metric-family.js";
import { checkMetricName } from "./metric-name.js";
import type { Series } from "./series.js";

/** Every metric of a registry, of whatever kind. */
export type MetricNames = Map<string, MetricFamily<Series>>;

export class MetricTable<S extends Series> {
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
