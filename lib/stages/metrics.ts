/**
 * Stage layer: counts the requests, and measures the time until the response is decided. No label comes from the path of a request, because
 * clients could create any number of series. A route label is a template that the application gives (`labelled`). The health endpoints are
 * outside of this stage and are not counted.
 *
 * @example
 * builder.metrics();                                              // the container's registry
 * Route.get("/links/{id}", show).middleware(MetricsLayer.labelled(metrics, "/links/{id}"));
 */
import { valueText } from "../errors/value-text.js";
import type { Context } from "../http/request/context.js";
import { StageLayer, type Run } from "../http/middleware.js";
import { HTTP_REQUEST_DURATION, HTTP_REQUESTS_TOTAL, Metrics } from "../observe/metrics/metrics.js";
import { MetricsError } from "../observe/errors.js";
import { Observation } from "../observe/request-observation.js";
import type { Observer, ValueSeries } from "../observe/metrics/series.js";

/** The maximum of methods, and of statuses per method, whose series are cached. Clients may invent methods, so there is a bound. */
const MAX_CACHED_SERIES = 64;

interface MethodSeries {
  /** By status. */
  readonly totals: Map<number, ValueSeries>;
  readonly duration: Observer;
}

export class MetricsLayer extends StageLayer {
  private readonly methods = new Map<string, MethodSeries>();

  /** @throws MetricsError `E_METRIC_LABEL` for a route that does not start with a slash */
  constructor(
    private readonly metrics: Metrics,
    private readonly route?: string,
  ) {
    super();
    if (!(metrics instanceof Metrics)) throw new TypeError(`${valueText(metrics)} is not a Metrics registry`);
    if (route !== undefined && !route.startsWith("/")) throw createRouteError(route);
    metrics.describeCounter(HTTP_REQUESTS_TOTAL, "Total HTTP requests handled.");
    metrics.describeHistogram(HTTP_REQUEST_DURATION, "HTTP request duration in seconds.");
  }

  /**
   * The same with a label `route`: a template such as `/links/{id}`, never the path of a request.
   *
   * @throws MetricsError `E_METRIC_LABEL` for a route that does not start with a slash
   */
  static labelled(metrics: Metrics, route: string): MetricsLayer {
    return new MetricsLayer(metrics, route);
  }

  override wrap(inner: Run): Run {
    return (ctx) => new CountedRequest(ctx, this).watch(inner);
  }

  /** @internal */
  count(method: string, status: number, seconds: number): void {
    const { totals, duration } = this.methods.get(method) ?? this.createMethodSeries(method);
    const total = totals.get(status) ?? this.createTotal(totals, method, status);
    total.value += 1;
    duration.observe(seconds);
  }

  private createMethodSeries(method: string): MethodSeries {
    const duration = this.metrics.histogram(HTTP_REQUEST_DURATION, { method, ...this.getRouteLabel() });
    const series = { totals: new Map<number, ValueSeries>(), duration };
    if (this.methods.size < MAX_CACHED_SERIES) this.methods.set(method, series);
    return series;
  }

  private createTotal(totals: Map<number, ValueSeries>, method: string, status: number): ValueSeries {
    const labels = { method, status: String(status), ...this.getRouteLabel() };
    const total = this.metrics.counter(HTTP_REQUESTS_TOTAL, labels);
    if (totals.size < MAX_CACHED_SERIES) totals.set(status, total);
    return total;
  }

  private getRouteLabel(): Readonly<Record<string, string>> {
    return this.route === undefined ? {} : { route: this.route };
  }
}

function createRouteError(route: string): MetricsError {
  const rule = `the route ${JSON.stringify(route)} is not a template: it does not start with a slash`;
  return new MetricsError("E_METRIC_LABEL", HTTP_REQUESTS_TOTAL, rule, "route");
}

class CountedRequest extends Observation {
  // It is read at the start, because an inner middleware may change the method.
  private readonly method = this.ctx.method;

  constructor(
    ctx: Context,
    private readonly layer: MetricsLayer,
  ) {
    super(ctx);
  }

  protected override record(status: number): void {
    this.layer.count(this.method, status, this.elapsed() / 1000);
  }
}
