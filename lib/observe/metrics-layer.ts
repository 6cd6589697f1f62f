/**
 * Stage layer: counts every request and how long it took until its answer was decided. There is no label from the request's path; a
 * route label is a template that the application writes down (`labelled`). Health endpoints stand outside and are not counted.
 *
 * @example
 * builder.metrics();                                              // the container's registry
 * Route.get("/links/{id}", show).middleware(MetricsLayer.labelled(metrics, "/links/{id}"));
 */
import type { Context } from "../kernel/context.js";
import { Layer, type Run } from "../kernel/middleware.js";
import { HTTP_REQUEST_DURATION, HTTP_REQUESTS_TOTAL, type Metrics } from "./metrics.js";
import { MetricsError } from "./metrics-error.js";
import { Observation } from "./observation.js";
import type { Observer, ValueSeries } from "./series.js";

/** Series kept at hand: every method of HTTP with every status it may get, and no more, whoever makes up others. */
const KEPT = 1024;

export class MetricsLayer extends Layer {
  private readonly totals = new Map<string, ValueSeries>();
  private readonly durations = new Map<string, Observer>();

  constructor(
    private readonly metrics: Metrics,
    private readonly route?: string,
  ) {
    super();
    metrics.describeCounter(HTTP_REQUESTS_TOTAL, "Total HTTP requests handled.");
    metrics.describeHistogram(HTTP_REQUEST_DURATION, "HTTP request duration in seconds.");
  }

  /**
   * The same with a label `route`: a template, never derived from a request.
   *
   * @throws MetricsError `E_METRIC_LABEL` for one that does not begin with a slash.
   */
  static labelled(metrics: Metrics, route: string): MetricsLayer {
    if (!route.startsWith("/")) {
      throw new MetricsError(
        "E_METRIC_LABEL",
        HTTP_REQUESTS_TOTAL,
        `the route ${JSON.stringify(route)} is no template: it does not begin with a slash`,
        "route",
      );
    }
    return new MetricsLayer(metrics, route);
  }

  override wrap(inner: Run): Run {
    return (ctx) => new CountedRequest(ctx, this).watch(inner);
  }

  /** @internal */
  count(method: string, status: number, seconds: number): void {
    this.total(method, status).value += 1;
    this.duration(method).observe(seconds);
  }

  private total(method: string, status: number): ValueSeries {
    const key = method + status;
    let series = this.totals.get(key);
    if (series === undefined) {
      series = this.metrics.counter(HTTP_REQUESTS_TOTAL, { method, status: String(status), ...this.routeLabel() });
      if (this.totals.size < KEPT) this.totals.set(key, series);
    }
    return series;
  }

  private duration(method: string): Observer {
    let series = this.durations.get(method);
    if (series === undefined) {
      series = this.metrics.histogram(HTTP_REQUEST_DURATION, { method, ...this.routeLabel() });
      if (this.durations.size < KEPT) this.durations.set(method, series);
    }
    return series;
  }

  private routeLabel(): Readonly<Record<string, string>> {
    return this.route === undefined ? {} : { route: this.route };
  }
}

class CountedRequest extends Observation {
  // As it was sent: a middleware further in may put another one in its place.
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
