/**
 * A registry of counters, gauges and histograms, and its exposition for Prometheus (text format 0.0.4). There is no global registry: code
 * that shares a `Metrics` object shares its series, and two objects share no series.
 *
 * Not for labels that identify a person or an object (ids, addresses, paths): each set of labels is a series that stays for the life of the
 * process. A metric takes no new series after `maxSeries`; then `framework_metrics_overflow_total{metric="…"}` counts the lost values.
 *
 * @example
 * const metrics = new Metrics();
 * metrics.describeCounter("orders_total", "Orders placed.");
 * metrics.increment("orders_total", { kind: "gift" });
 * metrics.render(); // # HELP orders_total Orders placed.\n# TYPE orders_total counter\norders_total{kind="gift"} 1\n
 */
import { setupError } from "../../errors/setup-error.js";
import { valueText } from "../../errors/value-text.js";
import { Reply } from "../../http/response/reply.js";
import type { Labels } from "./labels.js";
import { FamilyTable, type GaugeRule, MetricFamily, type MetricNames } from "./family.js";
import { OVERFLOW_METRIC } from "./exposition.js";
import { MetricsError } from "../errors.js";
import { Scrape } from "./scrape.js";
import { renderFamilies } from "./series-list.js";
import { Buckets, HistogramSeries, type Observer, ValueSeries } from "./series.js";

export type { GaugeRule } from "./family.js";
export type { Labels, LabelValue } from "./labels.js";
export { MetricsError } from "../errors.js";

/** Seconds. */
export const DEFAULT_BUCKETS: readonly number[] = Object.freeze([
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
]);
/** Counter with the labels `method`, `status` and, if the layer has route labels, `route`. */
export const HTTP_REQUESTS_TOTAL = "http_requests_total";
/** Histogram in seconds, with the labels `method` and, if the layer has route labels, `route`. */
export const HTTP_REQUEST_DURATION = "http_request_duration_seconds";
/** Counter with the labels `method` and `route`, for routes that are deprecated or have a sunset. */
export const HTTP_DEPRECATED_REQUESTS = "http_deprecated_requests_total";
export const PROMETHEUS_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

const DEFAULT_MAX_SERIES = 10_000;
const GAUGE_RULES: readonly GaugeRule[] = ["sum", "max", "min"];
const NO_LABELS: Labels = Object.freeze({});

export interface MetricsOptions {
  /** The maximum number of series of one metric: an integer of at least 1; 10 000 by default. */
  readonly maxSeries?: number;
}

export interface GaugeOptions {
  /**
   * The value over all workers of `runWorkers()`; `"sum"` unless set. Where each worker sets the same figure, such as the length of a queue
   * that they share, use `"max"`. `"max"` and `"min"` leave `NaN` out. A worker that has ended does not count.
   */
  readonly workers?: GaugeRule;
}

/** Gives the exposition of all workers. It rejects where it cannot. @internal */
export type MetricsPage = () => Promise<Iterator<string, void>>;

/** A method that throws `MetricsError` has recorded no value; see `MetricsErrorCode`. */
export class Metrics {
  readonly #names: MetricNames = new Map();
  readonly #counters: FamilyTable<ValueSeries>;
  readonly #gauges: FamilyTable<ValueSeries>;
  readonly #histograms: FamilyTable<HistogramSeries>;
  readonly #maxSeries: number;
  readonly #bounds: Float64Array;
  #page: MetricsPage | undefined;
  readonly #overflow = new MetricFamily(OVERFLOW_METRIC, "counter", Infinity, (labels) =>
    createValueSeries(OVERFLOW_METRIC, labels),
  );

  /** @throws MetricsError `E_METRIC_VALUE` if `maxSeries` is not valid. */
  constructor(options: MetricsOptions = {}, bounds: readonly number[] = DEFAULT_BUCKETS) {
    const { maxSeries = DEFAULT_MAX_SERIES } = options;
    if (!Number.isInteger(maxSeries) || maxSeries < 1) {
      const rule = `maxSeries is an integer of at least 1, not ${valueText(maxSeries)}`;
      throw setupError(new MetricsError("E_METRIC_VALUE", "*", rule));
    }
    const buckets = new Buckets(bounds);
    this.#maxSeries = maxSeries;
    this.#bounds = buckets.bounds;
    const histogram = (name: string, labels: string) => new HistogramSeries(name, labels, buckets);
    this.#counters = new FamilyTable(this.#names, "counter", maxSeries, createValueSeries);
    this.#gauges = new FamilyTable(this.#names, "gauge", maxSeries, createValueSeries);
    this.#histograms = new FamilyTable(this.#names, "histogram", maxSeries, histogram);
  }

  /** A registry whose histograms have these bounds, sorted, without duplicates and non-finite ones. The bound `+Inf` is always added. */
  static withBuckets(bounds: readonly number[], options?: MetricsOptions): Metrics {
    return new Metrics(options, bounds);
  }

  /** Sets the help text of a counter. The counter then appears in the exposition, also before it has samples. */
  describeCounter(name: string, help: string): void {
    this.#counters.describe(name, help);
  }

  /**
   * As `describeCounter`, for a gauge.
   *
   * @throws MetricsError `E_METRIC_VALUE` also for a rule that is none
   */
  describeGauge(name: string, help: string, options: GaugeOptions = {}): void {
    const { workers = "sum" } = options;
    if (!GAUGE_RULES.includes(workers))
      throw createValueError(name, `the rule for workers is ${GAUGE_RULES.join(", ")}`, workers);
    this.#gauges.describe(name, help, workers);
  }

  /** As `describeCounter`, for a histogram. */
  describeHistogram(name: string, help: string): void {
    this.#histograms.describe(name, help);
  }

  /** Adds `by`, an integer of at least 0, to a counter. The sum is exact up to 2^53 − 1. */
  increment(name: string, labels: Labels = NO_LABELS, by = 1): void {
    if (!Number.isInteger(by) || by < 0)
      throw createValueError(name, "a counter grows by an integer of at least 0", by);
    const series = this.#counters.find(name, labels) ?? this.#counters.findOrCreate(name, labels);
    if (series === undefined) this.#getOverflow(name).value += 1;
    else series.value += by;
  }

  /** Sets a gauge to any number, `NaN` and the infinities included. */
  set(name: string, labels: Labels, value: number): void {
    if (typeof value !== "number") throw createValueError(name, "a gauge is a number", value);
    const series = this.#gauges.find(name, labels) ?? this.#gauges.findOrCreate(name, labels);
    if (series === undefined) this.#getOverflow(name).value += 1;
    else series.value = value;
  }

  /** Counts `value` in each bucket of a histogram whose bound is not below it, and adds it to the sum. */
  observe(name: string, labels: Labels, value: number): void {
    if (typeof value !== "number") throw createValueError(name, "an observation is a number", value);
    const series = this.#histograms.find(name, labels) ?? this.#histograms.findOrCreate(name, labels);
    if (series === undefined) this.#getOverflow(name).value += 1;
    else series.observe(value);
  }

  /**
   * The value of a counter; `undefined` if the counter or the series does not exist. Never throws and never creates a series. In a worker of
   * `runWorkers()` it is the value of this worker alone.
   */
  counterValue(name: string, labels: Labels = NO_LABELS): number | undefined {
    try {
      return (name === OVERFLOW_METRIC ? this.#overflow.peek(labels) : this.#counters.peek(name, labels))?.value;
    } catch {
      // Invalid labels have no series.
      return undefined;
    }
  }

  /**
   * The whole registry in the text exposition format 0.0.4; `""` if it is empty.
   *
   * It is synchronous: 10 000 counters take 2 to 3 ms, 10 000 series of a histogram (140 000 lines, 10 MB) 20 to 40 ms on two slow cores;
   * `npm run bench -- --scenario metrics` measures it. For a scrape use `response()`, which does not block other requests. In a worker of
   * `runWorkers()` it is the registry of this worker alone; `response()` has those of all workers.
   */
  render(): string {
    return [...renderFamilies(this.#names)].join("");
  }

  /**
   * The text of `render()` as a response with status 200, `PROMETHEUS_CONTENT_TYPE` and `no-store`. Above 64 Ki characters it is a stream
   * of slices of less than a millisecond each, and other requests run in between. Each series has its values at the time of its slice.
   *
   * In a worker of `runWorkers()` it is the text of all workers, whichever worker a client asks. It has everything that this worker counted
   * before the call, and what the others counted until their last report, a second ago or less.
   *
   * @throws FrameworkError `E_WORKERS_METRICS`, 503, where the parent of the workers does not give the text in time
   */
  async response(): Promise<Reply<200, string>> {
    const texts = await (this.#page?.() ?? renderFamilies(this.#names));
    // A client receives the stream as the same text.
    const text = Scrape.of(texts) as string;
    return Reply.of(text, PROMETHEUS_CONTENT_TYPE).header("Cache-Control", "no-store");
  }

  /** `response()` gives this page from now on. @internal */
  setPage(page: MetricsPage): void {
    this.#page = page;
  }

  /** What a worker reports, and its parent needs to add it. @internal */
  get contents(): { readonly families: MetricNames; readonly maxSeries: number; readonly bounds: Float64Array } {
    return { families: this.#names, maxSeries: this.#maxSeries, bounds: this.#bounds };
  }

  /**
   * A counter's series, for a hot path that counts with `series.value += 1`. If the metric is full, the series that counts the lost values.
   *
   * @internal
   */
  counter(name: string, labels: Labels): ValueSeries {
    return this.#counters.findOrCreate(name, labels) ?? this.#getOverflow(name);
  }

  /**
   * A gauge's series, for a hot path that sets `series.value`. If the metric is full, a series that is not shown.
   *
   * @internal
   */
  gauge(name: string, labels: Labels): ValueSeries {
    return this.#gauges.findOrCreate(name, labels) ?? this.#createLostGauge(name);
  }

  /**
   * A histogram's series, for a hot path. If the metric is full, an observer that counts the lost values.
   *
   * @internal
   */
  histogram(name: string, labels: Labels): Observer {
    const series = this.#histograms.findOrCreate(name, labels);
    return series ?? { observe: () => void (this.#getOverflow(name).value += 1) };
  }

  /** A series that no exposition has: a gauge that is set often must not count as often. */
  #createLostGauge(name: string): ValueSeries {
    this.#getOverflow(name).value += 1;
    return createValueSeries(name, "");
  }

  /** The overflow metric appears in the exposition with the first lost value. It has one series for each metric, so it needs no limit. */
  #getOverflow(metric: string): ValueSeries {
    this.#names.set(OVERFLOW_METRIC, this.#overflow);
    // Without a limit, `admit` always returns a series.
    return this.#overflow.find({ metric }) ?? (this.#overflow.findOrCreate({ metric }) as ValueSeries);
  }
}

function createValueSeries(name: string, labels: string): ValueSeries {
  return new ValueSeries(name, labels);
}

function createValueError(metric: string, rule: string, value: unknown): MetricsError {
  return new MetricsError("E_METRIC_VALUE", metric, `${rule}, not ${valueText(value)}`);
}
