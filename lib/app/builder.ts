/**
 * Builds an application: one method for each setting and each stage, in any order. Only the calls of `.layer()` keep theirs.
 *
 * @example
 * await Application.create(ShopModule).requestId().accessLog().metrics().build().run();
 */
import type { AddressBlocks } from "../http/request/address-blocks.js";
import { KoaApplication } from "../http/koa/koa-application.js";
import type { KoaApp } from "../http/koa/koa-types.js";
import { BodyLimitLayer, type BodyLimitOptions } from "../stages/body-limit.js";
import { CatchPanicLayer } from "../stages/catch-panic.js";
import { ErrorMapping } from "../stages/error-mapping.js";
import { MaintenanceLayer, Maintenance } from "../stages/maintenance/maintenance.js";
import { RateLimit } from "../stages/rate-limit/rate-limit.js";
import type { CsrfConfig } from "../stages/csrf/csrf-config.js";
import type { SessionConfig } from "../stages/session/session-config.js";
import type { SessionStore } from "../stages/session/stores/session-store.js";
import { TimeoutLayer, type TimeoutOptions } from "../stages/timeout.js";
import { UAG_PATH, UagEndpointLayer } from "../stages/uag-endpoint.js";
import type { Class } from "../runtime/class.js";
import { toBinding, type Binding } from "../di/provide.js";
import { CompressionLayer, type CompressionOptions } from "../stages/compression.js";
import { CorsLayer } from "../stages/cors/cors.js";
import type { CorsOptions } from "../stages/cors/cors-options.js";
import type { DevProxyOptions } from "../stages/dev-proxy/dev-proxy.js";
import { ProxyLayer, type ProxyFunction } from "../stages/proxy.js";
import { SecurityHeaders } from "../stages/security-headers/security-headers.js";
import type { LifecycleOptions } from "../lifecycle/lifecycle-options.js";
import { AccessLogLayer } from "../stages/access-log.js";
import { Metrics } from "../observe/metrics/metrics.js";
import { MetricsLayer, type MetricsLayerOptions } from "../stages/metrics.js";
import { RequestIdLayer } from "../stages/request-id.js";
import { TraceContextLayer } from "../stages/trace-context.js";
import type { MiddlewareInput } from "../routing/middleware.js";
import { Routes } from "../routing/routes.js";
import { PageContractsLayer } from "../stages/page-contracts.js";
import type { PageContractRegistry } from "../stages/pages/contract-registry.js";
import type { Pages } from "../stages/pages/pages.js";
import { StaticFiles } from "../stages/static-files/static-files.js";
import type { StaticFilesOptions } from "../stages/static-files/options.js";
import type { ApiDocsOptions } from "../openapi/api-docs.js";
import type { ServerAttachment } from "../server/listener.js";
import type { Application } from "./application.js";
import { checkInstance, Plan } from "./plan.js";
import { buildParts, type ApplicationParts } from "./build.js";
import { AppConfig } from "./config.js";
import { addApiDocs, addCsrf, addDevProxy, addPages, addSession } from "./front-end.js";

export class ApplicationBuilder {
  /** The underlying Koa application, for middleware that takes one as an argument: `session(options, builder.koa)`. */
  readonly koa: KoaApp;
  /** The command shows it. @internal */
  readonly plan: Plan;

  /** @internal Use `Application.create`. */
  constructor(
    root: Class | undefined,
    private readonly finish: (parts: ApplicationParts) => Application,
  ) {
    const koa = new KoaApplication();
    this.koa = koa;
    this.plan = new Plan(root, koa);
  }

  /** Adds routes that are defined without decorators. */
  routes(routes: Routes): this {
    this.plan.addRoutes(routes);
    return this;
  }

  /** Adds providers for the whole application: classes or bindings, as in a module. They override those of every module. */
  provide(...providers: readonly (Class | Binding)[]): this {
    this.change(".provide(…)").bindings.push(...providers.map(toBinding));
    return this;
  }

  /** Adds bindings that override all others. A binding that no class injects is refused. @internal */
  testOverrides(...bindings: readonly Binding[]): this {
    this.plan.testOverrides.push(...bindings);
    return this;
  }

  /** Adds bindings that any other binding overrides, except those of the framework. @internal */
  testDefaults(...bindings: readonly Binding[]): this {
    this.plan.testDefaults.push(...bindings);
    return this;
  }

  /** The name, public URL, environment name and port. Without this call they have the defaults of `AppConfig`. */
  config(config: AppConfig): this {
    this.change(".config(…)").config = config;
    return this;
  }

  /** The port to listen on, 0 to 65535; 0 is any free port. `FRAMEWORK_BACKEND_PORT`, `PORT` and `APP_PORT` override it. */
  port(port: number): this {
    this.change(".port(n)").port = port;
    return this;
  }

  /** The address to listen on, by default `127.0.0.1`. Containers need `0.0.0.0`. */
  bind(host: string): this {
    this.change(".bind(host)").host = host;
    return this;
  }

  /**
   * Calls `attachment` with the HTTP server before it listens, also in `testApp`: for WebSocket libraries, which add listeners to it.
   * The signal aborts when the drain starts. Upgraded connections that are still open at the drain deadline are ended.
   */
  attach(attachment: ServerAttachment): this {
    this.change(".attach(…)").attachments.push(attachment);
    return this;
  }

  /** The proxies whose `X-Forwarded-*` headers are trusted: addresses and CIDR blocks, or a set such as `AddressBlocks.private`. */
  trustedProxies(list: string | AddressBlocks): this {
    this.change(".trustedProxies(list)").trustedProxies = list;
    return this;
  }

  /**
   * Sends requests for sources to Vite's development server, and tunnels its hot reload: one port in development. Off unless
   * `FRAMEWORK_VITE_IPC` or `endpoint` names the server, and in release builds.
   */
  devProxy(options?: DevProxyOptions): this {
    addDevProxy(this.plan, options);
    return this;
  }

  /** Calls `decide` first for every request. It may rewrite the target of the request, redirect it or respond to it. */
  proxy(decide: ProxyFunction): this {
    this.plan.addStage("proxy", ".proxy(…)", () => new ProxyLayer(decide));
    return this;
  }

  /** Switches the health endpoints on or off; they are on by default. */
  health(on: boolean): this {
    this.change(".health(on)").health = on;
    return this;
  }

  /** The path of the health endpoints, by default `/up`. */
  healthPrefix(path: string): this {
    this.change(".healthPrefix(path)").healthPrefix = path;
    return this;
  }

  /**
   * Responds to GET of the path with `application.graph()` as JSON, by default `/_framework/uag.json`. Release builds ignore the call, with
   * a WARN event at the start.
   */
  uagEndpoint(path?: string): this {
    this.plan.addStage("uagEndpoint", ".uagEndpoint(…)", () => new UagEndpointLayer(path));
    this.plan.uagPath = path ?? UAG_PATH;
    return this;
  }

  /** Serves the OpenAPI document of the contracts at `/openapi.json`, and a page of it at `/docs`: routes behind all stages. */
  apiDocs(options?: ApiDocsOptions): this {
    addApiDocs(this.plan, options);
    return this;
  }

  /** The times of start and stop, in milliseconds. A later call overrides an earlier one, option by option. */
  lifecycle(options: LifecycleOptions): this {
    this.plan.addLifecycleOptions(options);
    return this;
  }

  /** Compresses response bodies if the client accepts it. */
  compression(options?: CompressionOptions): this {
    this.plan.addStage("compression", ".compression(…)", () => new CompressionLayer(options));
    return this;
  }

  /** Adds security headers to every response that lacks them. */
  securityHeaders(headers: SecurityHeaders = new SecurityHeaders()): this {
    this.plan.addStage("securityHeaders", ".securityHeaders(…)", () => checkInstance(SecurityHeaders, headers));
    return this;
  }

  /** Responds to CORS preflight requests and adds the CORS headers for allowed origins. */
  cors(options: CorsOptions): this {
    this.plan.addStage("cors", ".cors(…)", () => new CorsLayer(options));
    return this;
  }

  /** Gives each request an id: the id in its `X-Request-Id` header, or a new id. */
  requestId(): this {
    this.plan.addStage("requestId", ".requestId()", () => new RequestIdLayer());
    return this;
  }

  /** Continues the trace of the `traceparent` header, or starts a new one (W3C Trace Context). */
  traceContext(): this {
    this.plan.addStage("traceContext", ".traceContext()", () => new TraceContextLayer());
    return this;
  }

  /** Logs one event for each request. */
  accessLog(): this {
    this.plan.addStage("accessLog", ".accessLog()", () => new AccessLogLayer());
    return this;
  }

  /**
   * Counts and times requests, in the `Metrics` of the container. A given `registry` becomes the registry of the container. With
   * `{ route: true }` both metrics have the template of the matched route as a label.
   */
  metrics(registry?: Metrics, options?: MetricsLayerOptions): this {
    const { needs, get } = this.plan.handle(Metrics, registry);
    this.plan.addStage("metrics", ".metrics(…)", (resolve) => new MetricsLayer(get(resolve), options), ...needs);
    return this;
  }

  /** Converts unhandled errors to responses with status 500 inside the access log and metrics, so that both see the status. */
  catchPanic(): this {
    this.plan.addStage(
      "catchPanic",
      ".catchPanic()",
      () => new CatchPanicLayer((ctx, thrown) => this.plan.respondToUnhandledError(ctx, thrown)),
    );
    return this;
  }

  /** Lets the application map errors to custom responses. */
  errorMapping(mapping: ErrorMapping = new ErrorMapping()): this {
    this.plan.addStage("errorMapping", ".errorMapping(…)", () => checkInstance(ErrorMapping, mapping));
    this.plan.errorMapping = mapping;
    return this;
  }

  /** The maximum size of a request body, in bytes. A route may set a lower limit, or a higher one up to `cap`. */
  bodyLimit(bytes: number, options?: BodyLimitOptions): this {
    this.plan.addStage("bodyLimit", ".bodyLimit(…)", () => new BodyLimitLayer(bytes, options));
    return this;
  }

  /**
   * Responds with 408 to a request that takes longer than `ms` milliseconds. A route may set another limit. For browsers add
   * `{ status: 503 }`: a 408 means that the request did not arrive, so on a reused connection a browser sends it again, also a
   * POST, and the handler runs several times for one click. With 503, a body that arrives too slowly still gets 408.
   */
  timeout(ms: number, options?: TimeoutOptions): this {
    this.plan.addStage("timeout", ".timeout(…)", () => new TimeoutLayer(ms, options));
    return this;
  }

  /** Refuses requests while `Maintenance` of the container is on. A given `handle` becomes the handle of the container. */
  maintenance(handle?: Maintenance): this {
    const { needs, get } = this.plan.handle(Maintenance, handle);
    this.plan.addStage("maintenance", ".maintenance(…)", (resolve) => new MaintenanceLayer(get(resolve)), ...needs);
    return this;
  }

  /** Responds with 429 to a client that sends more requests than `limit` allows. */
  rateLimit(limit: RateLimit): this {
    this.plan.addStage("rateLimit", ".rateLimit(…)", () => checkInstance(RateLimit, limit));
    return this;
  }

  /** Renders pages of a front end: `page("links/index", props)` in a handler. */
  pages(pages: Pages): this {
    addPages(this.plan, pages);
    return this;
  }

  /** Checks pages against the contracts of their components in debug builds: `new PageContracts().register(…)`. */
  pageContracts(contracts: PageContractRegistry): this {
    this.plan.addStage("pageContracts", ".pageContracts(…)", () => new PageContractsLayer(contracts));
    this.plan.pageContracts = contracts;
    return this;
  }

  /**
   * Gives each visitor a session. Without a store the sessions are in the memory of this process. Redirects and pages use it for their
   * flash.
   */
  session(config: SessionConfig, store?: SessionStore): this {
    addSession(this.plan, config, store);
    return this;
  }

  /** Refuses unsafe requests that do not come from a page of this site. A route may say `{ csrf: "exempt" }` or `{ bearer: true }`. */
  csrf(config: CsrfConfig): this {
    addCsrf(this.plan, config);
    return this;
  }

  /** In a release build, leaves out members that the contract of a response does not declare, unless its endpoint says otherwise. */
  stripResponses(on: boolean): this {
    this.change(".stripResponses(on)").stripResponses = on;
    return this;
  }

  /** Switches the resolution of redirects to routes on or off; it is on by default. */
  redirectMapper(on: boolean): this {
    this.change(".redirectMapper(on)").redirectMapper = on;
    return this;
  }

  /** Adds middleware: an object, a class that the container builds, or a Koa function. The first one is the outermost. */
  layer(...layers: readonly MiddlewareInput[]): this {
    this.plan.addLayers(layers);
    return this;
  }

  /** Serves the files of a directory for requests that match no route. */
  staticFiles(options?: StaticFilesOptions): this {
    this.plan.addStage("staticFiles", ".staticFiles(…)", () => new StaticFiles(options));
    return this;
  }

  /**
   * Opens no connection and starts no timer.
   *
   * @throws StartupError with a diagnostic for each fault
   */
  build(): Application {
    return this.finish(buildParts(this.plan));
  }

  /** The plan, for a change by this call. */
  private change(call: string): Plan {
    this.plan.recordCall(call);
    return this.plan;
  }
}
