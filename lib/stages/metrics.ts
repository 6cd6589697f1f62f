/**
 * Stage layer: counts the requests, and measures the time until the response is decided. No label comes from the path of a request, because
 * clients could create any number of series. A route label is the template of a route: of the one that matched (`{ route: true }`), or one
 * that the application gives (`labelled`). The health endpoints are outside of this stage and are not counted.
 *
 * @example
 * builder.metrics();                                              // the container's registry
 * builder.metrics(undefined, { route: true });                    // with a label for the template of the route
 * Route.get("/links/{id}", show).middleware(MetricsLayer.labelled(metrics, "/links/{id}"));
 */
import { valueText } from "../errors/value-text.js";
import type { Context } from "../http/request/context.js";
import { StageLayer, type Run } from "../http/middleware.js";
import type { Labels } from "../observe/metrics/labels.js";
import {
  HTTP_DEPRECATED_REQUESTS,
  HTTP_REQUEST_DURATION,
  HTTP_REQUESTS_TOTAL,
  Metrics,
} from "../observe/metrics/metrics.js";
import { MetricsError } from "../observe/errors.js";
import { Observation } from "../observe/request-observation.js";
import type { Observer, ValueSeries } from "../observe/metrics/series.js";

/** The maximum of methods, and of statuses per method, whose series are cached. Clients may invent methods, so there is a bound. */
const MAX_CACHED_SERIES = 64;

export interface MetricsLayerOptions {
  /**
   * `true`: both metrics have a label `route` with the template of the route that matched, prefixes included, or `none` where no route
   * matched. Each route adds series: one for each of its methods and statuses, and one histogram for each method. Default: no such label.
   */
  readonly route?: boolean;
}

/** The label of a request that no route matched. No template has this text, because templates start with a slash. */
const NO_ROUTE = "none";

interface MethodSeries {
  /** By status. */
  readonly totals: Map<number, ValueSeries>;
  readonly duration: Observer;
}

export class MetricsLayer extends StageLayer {
  /** The series by method, for each label `route`. */
  private readonly routes = new Map<string | undefined, Map<string, MethodSeries>>();

  /**
   * @throws MetricsError `E_METRIC_LABEL` for a template that does not start with a slash
   */
  constructor(
    private readonly metrics: Metrics,
    private readonly options: MetricsLayerOptions = {},
    private readonly template?: string,
  ) {
    super();
    if (!(metrics instanceof Metrics)) throw new TypeError(`${valueText(metrics)} is not a Metrics registry`);
    if (template !== undefined && !template.startsWith("/")) throw createRouteError(template);
    metrics.describeCounter(HTTP_REQUESTS_TOTAL, "Total HTTP requests handled.");
    metrics.describeHistogram(HTTP_REQUEST_DURATION, "HTTP request duration in seconds.");
  }

  /**
   * A layer whose metrics have the label `route`: a template such as `/links/{id}`, never the path of a request.
   *
   * @throws MetricsError `E_METRIC_LABEL` for a route that does not start with a slash
   */
  static labelled(metrics: Metrics, route: string): MetricsLayer {
    return new MetricsLayer(metrics, {}, route);
  }

  override wrap(inner: Run): Run {
    return (ctx) => new CountedRequest(ctx, this).watch(inner);
  }

  /** @internal */
  count(ctx: Context, method: string, status: number, seconds: number): void {
    const route = this.getRoute(ctx);
    const { totals, duration } = this.routes.get(route)?.get(method) ?? this.createMethodSeries(route, method);
    const total = totals.get(status) ?? this.createTotal(totals, status, { method, ...createRouteLabel(route) });
    total.value += 1;
    duration.observe(seconds);
    if (ctx.matchedRoute?.isDeprecated === true) this.countDeprecated(method, ctx.matchedRoute.path.template);
  }

  /** Without such a route the registry has no such counter. A layer of one route would count a second time. */
  private countDeprecated(method: string, route: string): void {
    if (this.template !== undefined) return;
    this.metrics.describeCounter(HTTP_DEPRECATED_REQUESTS, "Requests to routes that are deprecated or have a sunset.");
    this.metrics.increment(HTTP_DEPRECATED_REQUESTS, { method, route });
  }

  private getRoute({ matchedRoute }: Context): string | undefined {
    return this.options.route === true ? (matchedRoute?.path.template ?? NO_ROUTE) : this.template;
  }

  private createMethodSeries(route: string | undefined, method: string): MethodSeries {
    const duration = this.metrics.histogram(HTTP_REQUEST_DURATION, { method, ...createRouteLabel(route) });
    const series = { totals: new Map<number, ValueSeries>(), duration };
    const methods = this.routes.get(route) ?? new Map<string, MethodSeries>();
    this.routes.set(route, methods);
    if (methods.size < MAX_CACHED_SERIES) methods.set(method, series);
    return series;
  }

  private createTotal(totals: Map<number, ValueSeries>, status: number, labels: Labels): ValueSeries {
    const total = this.metrics.counter(HTTP_REQUESTS_TOTAL, { ...labels, status: String(status) });
    if (totals.size < MAX_CACHED_SERIES) totals.set(status, total);
    return total;
  }
}

function createRouteLabel(route: string | undefined): { readonly route?: string } {
  return route === undefined ? {} : { route };
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
    this.layer.count(this.ctx, this.method, status, this.elapsed() / 1000);
  }
}
