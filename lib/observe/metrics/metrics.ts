/**
 * A registry of counters, gauges and histograms, and its Prometheus exposition (text format 0.0.4).
 * A registry is a value: whoever holds the same one shares its series, two registries share nothing, and none is global.
 *
 * Not for values that identify someone or something (ids, addresses, paths): every set of labels is a series kept for the life of the
 * process. After `maxSeries` of them a name takes no more, and `framework_metrics_overflow_total{metric="…"}` counts what was lost.
 *
 * @example
 * const metrics = new Metrics();
 * metrics.describeCounter("orders_total", "Orders placed.");
 * metrics.increment("orders_total", { kind: "gift" });
 * metrics.render(); // # HELP orders_total Orders placed.\n# TYPE orders_total counter\norders_total{kind="gift"} 1\n
 */
import { Readable } from "node:stream";
import { Reply } from "../../http/reply.js";
import type { Labels } from "./labels.js";
import { MetricFamily, type MetricNames, FamilyTable } from "./family.js";
import { OVERFLOW_METRIC } from "./exposition.js";
import { MetricsError } from "../errors.js";
import { Buckets, HistogramSeries, type Observer, ValueSeries } from "./series.js";

// An exposition on its way out: written slice by slice, with a turn of the event loop in between, so that a scrape of however many
// series holds up nobody for more than a millisecond or two. Each series is whole, and as it stands when its slice is written.
//
// Not for an exposition of one slice: that is text, and has a length.

/** In characters: some 800 lines, which take less than a millisecond. */
const SLICE = 1 << 16;

export class Scrape extends Readable {
  private next: string | undefined;

  private constructor(
    first: string,
    private readonly texts: Iterator<string>,
  ) {
    super();
    this.next = first;
  }

  /** The texts one after the other: as one where they fit into a slice. */
  static of(texts: Iterator<string>): string | Scrape {
    const first = sliceOf(texts);
    return first.length < SLICE ? first : new Scrape(first, texts);
  }

  override _read(): void {
    const { next } = this;
    this.next = undefined;
    if (next === undefined) setImmediate(() => this.goOn());
    else this.push(next);
  }

  private goOn(): void {
    if (!this.destroyed) this.push(sliceOf(this.texts) || null);
  }
}

/** Shorter than a slice only at the end, and longer by one text at most. */
function sliceOf(texts: Iterator<string>): string {
  const pieces: string[] = [];
  let length = 0;
  while (length < SLICE) {
    const { done, value } = texts.next();
    if (done === true) break;
    pieces.push(value);
    length += value.length;
  }
  return pieces.join("");
}

export type { Labels, LabelValue } from "./labels.js";
export { MetricsError } from "../errors.js";

/** Seconds. */
export const DEFAULT_BUCKETS: readonly number[] = Object.freeze([
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
]);
/** Counter: labels `method`, `status` and, where the layer is labelled, `route`. */
export const HTTP_REQUESTS_TOTAL = "http_requests_total";
/** Histogram, in seconds: labels `method` and, where the layer is labelled, `route`. */
export const HTTP_REQUEST_DURATION = "http_request_duration_seconds";
export const PROMETHEUS_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

const DEFAULT_MAX_SERIES = 10_000;
const NO_LABELS: Labels = Object.freeze({});

export interface MetricsOptions {
  /** Sets of labels one name takes; an integer of at least 1, without it 10 000. */
  readonly maxSeries?: number;
}

/** Every writing method throws `MetricsError` and then records nothing; see `MetricsErrorCode`. */
export class Metrics {
  readonly #names: MetricNames = new Map();
  readonly #counters: FamilyTable<ValueSeries>;
  readonly #gauges: FamilyTable<ValueSeries>;
  readonly #histograms: FamilyTable<HistogramSeries>;
  readonly #overflow = new MetricFamily(OVERFLOW_METRIC, "counter", Infinity, (labels) =>
    newValue(OVERFLOW_METRIC, labels),
  );

  /** @throws MetricsError `E_METRIC_VALUE` for a `maxSeries` that is none. */
  constructor({ maxSeries = DEFAULT_MAX_SERIES }: MetricsOptions = {}, bounds: readonly number[] = DEFAULT_BUCKETS) {
    if (!Number.isInteger(maxSeries) || maxSeries < 1) {
      throw new MetricsError("E_METRIC_VALUE", "*", `maxSeries is an integer of at least 1, not ${String(maxSeries)}`);
    }
    const buckets = new Buckets(bounds);
    const histogram = (name: string, labels: string) => new HistogramSeries(name, labels, buckets);
    this.#counters = new FamilyTable(this.#names, "counter", maxSeries, newValue);
    this.#gauges = new FamilyTable(this.#names, "gauge", maxSeries, newValue);
    this.#histograms = new FamilyTable(this.#names, "histogram", maxSeries, histogram);
  }

  /** A registry whose histograms have these bounds: sorted, non-finite ones and duplicates dropped; `+Inf` is always there. */
  static withBuckets(bounds: readonly number[], options?: MetricsOptions): Metrics {
    return new Metrics(options, bounds);
  }

  /** Gives a counter its help, or another, and a place in the exposition before it has samples. */
  describeCounter(name: string, help: string): void {
    this.#counters.describe(name, help);
  }

  /** As `describeCounter`, for a gauge. */
  describeGauge(name: string, help: string): void {
    this.#gauges.describe(name, help);
  }

  /** As `describeCounter`, for a histogram. */
  describeHistogram(name: string, help: string): void {
    this.#histograms.describe(name, help);
  }

  /** Adds `by`, an integer of at least 0, to a counter; exact up to 2^53 − 1. */
  increment(name: string, labels: Labels = NO_LABELS, by = 1): void {
    if (!Number.isInteger(by) || by < 0) throw refuse(name, "a counter grows by an integer of at least 0", by);
    const series = this.#counters.find(name, labels) ?? this.#counters.admit(name, labels);
    if (series === undefined) this.#overflowOf(name).value += 1;
    else series.value += by;
  }

  /** Sets a gauge to any number, `NaN` and the infinities included. */
  set(name: string, labels: Labels, value: number): void {
    if (typeof value !== "number") throw refuse(name, "a gauge is a number", value);
    const series = this.#gauges.find(name, labels) ?? this.#gauges.admit(name, labels);
    if (series === undefined) this.#overflowOf(name).value += 1;
    else series.value = value;
  }

  /** Counts `value` in every bucket of a histogram whose bound it does not exceed, and adds it to the sum. */
  observe(name: string, labels: Labels, value: number): void {
    if (typeof value !== "number") throw refuse(name, "an observation is a number", value);
    const series = this.#histograms.find(name, labels) ?? this.#histograms.admit(name, labels);
    if (series === undefined) this.#overflowOf(name).value += 1;
    else series.observe(value);
  }

  /** What a counter stands at; `undefined` where there is no such counter or no such series. Never throws, makes nothing. */
  counterValue(name: string, labels: Labels = NO_LABELS): number | undefined {
    try {
      return (name === OVERFLOW_METRIC ? this.#overflow.peek(labels) : this.#counters.peek(name, labels))?.value;
    } catch {
      // What are no labels belong to no series.
      return undefined;
    }
  }

  /**
   * The whole registry in the text exposition format 0.0.4; `""` while it is empty.
   *
   * Synchronous: 10 000 counters take 2 to 3 ms, 10 000 label sets of a histogram (140 000 lines, 10 MB) 20 to 40 ms on two slow cores,
   * and `npm run bench -- --scenario metrics` says what it is elsewhere. For a scrape there is `response()`, which holds up nobody.
   */
  render(): string {
    return [...this.#texts()].join("");
  }

  /**
   * `render()` as an answer: 200, `PROMETHEUS_CONTENT_TYPE`, not to be stored. Beyond 64 Ki characters it is a stream that is written
   * slice by slice, less than a millisecond each, while other requests are served: each series is as it stands when its slice is written.
   */
  response(): Reply {
    return Reply.of(Scrape.of(this.#texts()), PROMETHEUS_CONTENT_TYPE).header("Cache-Control", "no-store");
  }

  /** The exposition in pieces, each series whole; of the names that are known now. */
  *#texts(): Generator<string, void> {
    for (const name of [...this.#names.keys()].toSorted()) {
      const family = this.#names.get(name);
      if (family === undefined) continue;
      yield family.open();
      for (const series of family.series()) yield series.render();
    }
  }

  /**
   * One counter's series, for a hot path that counts by `series.value += 1`; at the cap, the series that counts the loss.
   *
   * @internal
   */
  counter(name: string, labels: Labels): ValueSeries {
    return this.#counters.admit(name, labels) ?? this.#overflowOf(name);
  }

  /**
   * One histogram's series, for a hot path; at the cap, something that counts the loss.
   *
   * @internal
   */
  histogram(name: string, labels: Labels): Observer {
    const series = this.#histograms.admit(name, labels);
    return series ?? { observe: () => void (this.#overflowOf(name).value += 1) };
  }

  /** Appears in the exposition with the first loss; as many series as there are names, so it needs no cap of its own. */
  #overflowOf(metric: string): ValueSeries {
    this.#names.set(OVERFLOW_METRIC, this.#overflow);
    // Without a cap there is always a series.
    return this.#overflow.find({ metric }) ?? (this.#overflow.admit({ metric }) as ValueSeries);
  }
}

function newValue(name: string, labels: string): ValueSeries {
  return new ValueSeries(name, labels);
}

function refuse(metric: string, rule: string, value: unknown): MetricsError {
  return new MetricsError("E_METRIC_VALUE", metric, `${rule}, not ${String(value)}`);
}
