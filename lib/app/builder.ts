/**
 * How an application is put together: one method a setting or stage, in any order. Only `.layer()` keeps the order of its calls.
 *
 * @example
 * await Application.create(ShopModule).requestId().accessLog().metrics().build().run();
 */
import Koa from "koa";
import { BodyLimitLayer, type BodyLimitOptions } from "../stages/body-limit.js";
import { CatchPanicLayer } from "../stages/catch-panic.js";
import { ErrorMapping } from "../stages/error-mapping.js";
import { MaintenanceLayer, Maintenance } from "../stages/maintenance.js";
import { RateLimit } from "../stages/rate-limit/rate-limit.js";
import { TimeoutLayer } from "../stages/timeout.js";
import type { Class } from "../di/token.js";
import type { Binding } from "../di/provide.js";
import { CompressionLayer, type CompressionOptions } from "../stages/compression.js";
import { CorsLayer } from "../stages/cors/cors.js";
import type { CorsOptions } from "../stages/cors/cors-options.js";
import { ProxyLayer, type ProxyFunction } from "../stages/proxy.js";
import { SecurityHeaders } from "../stages/security-headers/security-headers.js";
import type { LifecycleOptions } from "../lifecycle/options.js";
import { AccessLogLayer } from "../stages/access-log.js";
import { Metrics } from "../observe/metrics/metrics.js";
import { MetricsLayer } from "../stages/metrics.js";
import { RequestIdLayer } from "../stages/request-id.js";
import { TraceContextLayer } from "../stages/trace-context.js";
import type { MiddlewareInput } from "../routing/middleware.js";
import type { Routes } from "../routing/routes.js";
import { StaticFiles } from "../stages/static-files/static-files.js";
import type { StaticFilesOptions } from "../stages/static-files/options.js";
import type { Application } from "./application.js";
import { instanceOf, optionsOf, Plan } from "./plan.js";
import { assemble, type ApplicationParts } from "./build.js";
import type { AppConfig } from "./config.js";

export class ApplicationBuilder {
  /** The underlying Koa application, for middleware that wants one at hand (`session(options, builder.koa)`). */
  readonly koa = new Koa();
  private readonly plan: Plan;

  /** @internal Use `Application.create`. */
  constructor(
    root: Class | undefined,
    private readonly finish: (assembly: ApplicationParts) => Application,
  ) {
    this.plan = new Plan(root);
  }

  /** Routes made without decorators; added to those of the modules. */
  routes(routes: Routes): this {
    this.plan.route(routes);
    return this;
  }

  /** Bindings for the whole application; they come before every module's own. */
  provide(...bindings: readonly Binding[]): this {
    this.plan.bindings.push(...bindings);
    return this;
  }

  /** Bindings of a test, which have to be injected somewhere. @internal */
  doubles(...bindings: readonly Binding[]): this {
    this.plan.doubles.push(...bindings);
    return this;
  }

  /** Defaults of a test kit: any other binding beats them. @internal */
  fallbacks(...bindings: readonly Binding[]): this {
    this.plan.fallbacks.push(...bindings);
    return this;
  }

  config(config: AppConfig): this {
    this.plan.config = config;
    return this;
  }

  /** 0 to 65535, 0 for any free port; the environment's variables come first. */
  port(port: number): this {
    this.plan.port = port;
    return this;
  }

  /** The address to listen on; `127.0.0.1` unless set. Containers need `0.0.0.0`. */
  bind(host: string): this {
    this.plan.host = host;
    return this;
  }

  /** Addresses and CIDR blocks, comma or blank separated, whose `X-Forwarded-*` headers are believed. */
  trustedProxies(list: string): this {
    this.plan.trustedProxies = list;
    return this;
  }

  /** Sees every request first and may rewrite its target, redirect or answer it. */
  proxy(decide: ProxyFunction): this {
    this.plan.stage("proxy", ".proxy(…)", () => new ProxyLayer(decide));
    return this;
  }

  health(on: boolean): this {
    this.plan.health = on;
    return this;
  }

  /** Where the health endpoints stand: `/up` unless set. */
  healthPrefix(path: string): this {
    this.plan.healthPrefix = path;
    return this;
  }

  lifecycle(options: LifecycleOptions): this {
    this.plan.times(options);
    return this;
  }

  compression(options?: CompressionOptions): this {
    this.plan.stage("compression", ".compression(…)", () => new CompressionLayer(optionsOf(options)));
    return this;
  }

  securityHeaders(headers: SecurityHeaders = new SecurityHeaders()): this {
    this.plan.stage("securityHeaders", ".securityHeaders(…)", () => instanceOf(SecurityHeaders, headers));
    return this;
  }

  cors(options: CorsOptions): this {
    this.plan.stage("cors", ".cors(…)", () => new CorsLayer(options));
    return this;
  }

  requestId(): this {
    this.plan.stage("requestId", ".requestId()", () => new RequestIdLayer());
    return this;
  }

  traceContext(): this {
    this.plan.stage("traceContext", ".traceContext()", () => new TraceContextLayer());
    return this;
  }

  accessLog(): this {
    this.plan.stage("accessLog", ".accessLog()", () => new AccessLogLayer());
    return this;
  }

  /** Without an argument: the container's `Metrics`; a registry that is given here is the container's. */
  metrics(registry?: Metrics): this {
    const { asks, from } = this.plan.handle(Metrics, registry);
    this.plan.stage("metrics", ".metrics(…)", (ask) => new MetricsLayer(from(ask)), ...asks);
    return this;
  }

  catchPanic(): this {
    this.plan.stage("catchPanic", ".catchPanic()", () => new CatchPanicLayer((ctx) => this.plan.answerPanic(ctx)));
    return this;
  }

  errorMapping(mapping: ErrorMapping = new ErrorMapping()): this {
    this.plan.stage("errorMapping", ".errorMapping(…)", () => instanceOf(ErrorMapping, mapping));
    this.plan.errorMapping = mapping;
    return this;
  }

  /** Bytes a request's body may have; routes may ask for less, and up to `cap` for more. */
  bodyLimit(bytes: number, options?: BodyLimitOptions): this {
    this.plan.stage("bodyLimit", ".bodyLimit(…)", () => new BodyLimitLayer(bytes, optionsOf(options)));
    return this;
  }

  /** Milliseconds until a request that is not answered gets 408; routes may have their own. */
  timeout(ms: number): this {
    this.plan.stage("timeout", ".timeout(…)", () => new TimeoutLayer(ms));
    return this;
  }

  /** Without an argument: the container's `Maintenance`; a handle that is given here is the container's. */
  maintenance(handle?: Maintenance): this {
    const { asks, from } = this.plan.handle(Maintenance, handle);
    this.plan.stage("maintenance", ".maintenance(…)", (ask) => new MaintenanceLayer(from(ask)), ...asks);
    return this;
  }

  rateLimit(limit: RateLimit): this {
    this.plan.stage("rateLimit", ".rateLimit(…)", () => instanceOf(RateLimit, limit));
    return this;
  }

  redirectMapper(on: boolean): this {
    this.plan.redirectMapper = on;
    return this;
  }

  /** A middleware, a middleware class that the container builds, or a Koa function; the first call is the outermost. */
  layer(...layers: readonly MiddlewareInput[]): this {
    this.plan.layer(layers);
    return this;
  }

  /** Files of a directory, for what no route matches. */
  staticFiles(options?: StaticFilesOptions): this {
    this.plan.stage("staticFiles", ".staticFiles(…)", () => new StaticFiles(optionsOf(options)));
    return this;
  }

  /** Throws one `StartupError` with everything that is wrong; opens nothing and starts no timer. */
  build(): Application {
    return this.finish(assemble(this.plan, this.koa));
  }
}
