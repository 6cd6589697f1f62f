/**
 * The series of one metric by the text of their labels, with the kind and the help text, and their order in the exposition. Families of a
 * registry and families of all workers are such lists.
 */
import { copyString } from "../copy-string.js";
import { formatMetricHeader, type MetricKind } from "./exposition.js";
import type { Series } from "./series.js";

/** At most `maxSeries` series, sorted by their labels only when new ones were added. */
export class SeriesList<S extends Series> {
  help = "";
  protected readonly byText = new Map<string, S>();
  private sorted: readonly S[] = [];
  private added: S[] = [];

  constructor(
    readonly name: string,
    readonly kind: MetricKind,
    private readonly maxSeries: number,
    private readonly createSeries: (labels: string) => S,
  ) {}

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

  /** In the order in which they were added. */
  inOrderOfCreation(): IterableIterator<S> {
    return this.byText.values();
  }

  /** Adds a series; `undefined` if the list is full. */
  protected add(text: string): S | undefined {
    if (this.byText.size >= this.maxSeries) return undefined;
    const labels = copyString(text);
    const series = this.createSeries(labels);
    this.byText.set(labels, series);
    this.added.push(series);
    return series;
  }

  protected remove(unused: ReadonlySet<S>): void {
    this.sorted = this.series().filter((series) => !unused.has(series));
    for (const { labels } of unused) this.byText.delete(labels);
  }
}

function compareLabels(left: Series, right: Series): number {
  return left.labels < right.labels ? -1 : 1;
}

/** The exposition in pieces, each series whole. It has the metrics that exist at the time of the first piece. */
export function* renderFamilies(families: ReadonlyMap<string, SeriesList<Series>>): Generator<string, void> {
  for (const name of [...families.keys()].toSorted()) {
    const family = families.get(name);
    if (family === undefined) continue;
    yield family.header();
    for (const series of family.series()) yield series.render();
  }
}
