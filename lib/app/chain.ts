/**
 * The chain of an application: builds the layers of the stages and puts them into the pipeline, when the application is built; composes
 * the functions of the pipeline, when the first listener is made.
 */
import type { Container } from "../di/container.js";
import type { Resolve } from "../di/provide.js";
import type { Deferred } from "../http/response/returned-value.js";
import { compose } from "../http/compose.js";
import type { Context } from "../http/request/context.js";
import { FrameworkError } from "../errors/framework-error.js";
import type { ComposeFunctions, RequestChain } from "../http/koa/koa-application.js";
import { StageLayer, type KoaMiddleware, type Layer, type Run } from "../http/middleware.js";
import type { Diagnostic } from "../errors/diagnostic.js";
import { enterRequest } from "../tracing/flow.js";
import { Health, HealthLayer } from "../stages/health.js";
import { inWorkScope } from "../lifecycle/work-scope.js";
import { Readiness } from "../lifecycle/readiness.js";
import { lastResortHandler, ErrorBoundary } from "../pipeline/error-boundary.js";
import { Pipeline } from "../pipeline/pipeline.js";
import type { Slot } from "../pipeline/table.js";
import { dispatch, leaveUnmatched, type UnmatchedHandler } from "../routing/router.js";
import { isMiddlewareClass } from "../routing/middleware.js";
import { Redirect } from "../stages/redirects/redirect.js";
import { respondWithoutMapper, RedirectMapperLayer, type RedirectSite } from "../stages/redirects/redirect-mapper.js";
import { profile } from "../runtime/profile.js";
import type { Routes } from "../routing/routes.js";
import type { ApplicationLog } from "./application-log.js";
import type { BootingLayer } from "../stages/maintenance/maintenance.js";
import type { Plan, StagePlan } from "./plan.js";
import type { RouteCollection } from "./route-collection.js";
import { toDiagnostic } from "./check-settings.js";

export interface BuiltStage {
  readonly slot: Slot;
  readonly call: string;
  readonly layer: Layer;
}

/** The stages that could be built, and a diagnostic for each of the others. */
export interface BuiltStages {
  readonly stages: readonly BuiltStage[];
  readonly diagnostics: readonly Diagnostic[];
}

/** The fix in the diagnostic of a stage that refuses its arguments: the arguments that its call takes. */
const FIXES: Readonly<Partial<Record<Slot, string>>> = {
  devProxy: 'give no argument, or { endpoint: "/run/vite.sock", prefixes: ["/src/"] }',
  proxy: "give a function: (request) => ProxyAction.continue()",
  compression: "give no argument, or { threshold, brotliQuality, gzipLevel } with whole numbers in their ranges",
  securityHeaders: "give no argument, or a SecurityHeaders: new SecurityHeaders().withHsts()",
  cors: 'give the origins, and each option in its form: { origins: ["https://app.example"], methods: ["GET"], maxAge: 600 }',
  metrics: "give no argument, or a Metrics and { route: true }",
  errorMapping: "give no argument, or an ErrorMapping: new ErrorMapping().using(mapper)",
  bodyLimit: "give whole numbers of bytes: .bodyLimit(2_097_152, { cap: 10_485_760 })",
  timeout: "give a whole number of milliseconds, and the status 408 or 503: .timeout(30_000, { status: 503 })",
  maintenance: "give no argument, or a Maintenance",
  rateLimit: "give a RateLimit: RateLimit.perMinute(120)",
  pages: 'give a Pages: new Pages({ entry: "pages/main.tsx" })',
  pageContracts: "give a PageContracts: new PageContracts().register(contract)",
  session: "give a SessionConfig, and optionally a SessionStore: .session(new SessionConfig(key), store)",
  csrf: "give a CsrfConfig: .csrf(new CsrfConfig())",
  staticFiles:
    'give no argument, or names of directories and a prefix that is a path: { root: "public", prefix: "/build" }',
};

export function buildStages(plans: readonly StagePlan[], resolve: Resolve): BuiltStages {
  const stages: BuiltStage[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const { slot, call, make } of plans) {
    try {
      stages.push({ slot, call, layer: make(resolve) });
    } catch (error) {
      diagnostics.push(toDiagnostic(error, call, FIXES[slot] ?? "report it: this stage takes no argument"));
    }
  }
  return { stages, diagnostics };
}

export interface PipelineParts {
  readonly stages: readonly BuiltStage[];
  readonly container: Container;
  readonly routeCollection: RouteCollection;
  readonly site: RedirectSite;
  /** Refuses requests while the application starts. */
  readonly booting: BootingLayer;
}

export function fillPipeline(
  plan: Plan,
  { stages, container, routeCollection, site, booting }: PipelineParts,
): Pipeline {
  const pipeline = new Pipeline().put("router", new RouterLayer(routeCollection, plan.pages?.routeGuard));
  for (const { slot, layer } of stages) {
    if (slot !== "uagEndpoint" || profile === "debug") pipeline.put(slot, layer);
  }
  if (plan.health) {
    pipeline.put("health", new HealthLayer(new Health(container.get(Readiness), plan.healthPrefix)));
  }
  if (plan.pages !== undefined) pipeline.guard("catchPanic", plan.pages.outerLayer());
  if (plan.redirectMapper) pipeline.put("redirectMapper", new RedirectMapperLayer(site));
  for (const layer of plan.layers) pipeline.put("layers", isMiddlewareClass(layer) ? container.get(layer) : layer);
  return pipeline
    .guard("maintenance", booting)
    .guard("layers", new ErrorBoundary(createReplyResolver(pipeline, site.origin)));
}

class RouterLayer extends StageLayer {
  constructor(
    private readonly routeCollection: RouteCollection,
    /** Runs innermost, around each handler. */
    private readonly routeGuard: Layer | undefined,
  ) {
    super();
  }

  override wrap(inner: Run): Run {
    const { all } = this.routeCollection;
    return dispatch(this.routeCollection.boundRoutes(this.routeGuard), createAddedRoutesHandler(all), inner);
  }
}

export interface ChainParts {
  /** Handles requests after the static files. */
  readonly lastFallback: Layer | undefined;
  readonly log: ApplicationLog;
  /** True if a subsystem reads the scope of the request. */
  readonly entersWorkScope: boolean;
}

/** Composes the chain of an application from the functions of its pipeline. */
export function createComposer(
  pipeline: Pipeline,
  { lastFallback, log: { subscriber }, entersWorkScope }: ChainParts,
): ComposeFunctions {
  const innermost = lastFallback?.wrap(leaveUnmatched) ?? leaveUnmatched;
  return reuseChain((functions) => {
    const handler = lastResortHandler(compose(functions, innermost));
    const chain: RequestChain = entersWorkScope ? (ctx) => inWorkScope(ctx, handler, ctx) : handler;
    // Entering an asynchronous flow costs time in each request, so only applications that need it pay for it.
    if (subscriber === undefined && !opensSpans(pipeline)) return chain;
    return (ctx) => enterRequest(chain, ctx, subscriber);
  });
}

/** All listeners of an application have one chain as long as its functions stay the same: layers may have a state. */
function reuseChain(composeChain: ComposeFunctions): ComposeFunctions {
  let last: { readonly functions: readonly KoaMiddleware[]; readonly chain: RequestChain } | undefined;
  return (functions) => {
    const isSame = functions.length === last?.functions.length && functions.every((f, at) => f === last?.functions[at]);
    if (last === undefined || !isSame) last = { functions: [...functions], chain: composeChain(functions) };
    return last.chain;
  };
}

function opensSpans(pipeline: Pipeline): boolean {
  return pipeline.isEnabled("traceContext") || pipeline.isEnabled("accessLog");
}

/** Resolves a reply that a handler returned although its stage is off. Without the redirect mapper a redirect to a route is an error. */
function createReplyResolver(pipeline: Pipeline, origin: string): (ctx: Context, deferred: Deferred) => void {
  return (ctx, deferred) => {
    if (deferred instanceof Redirect) {
      if (!pipeline.isEnabled("redirectMapper")) respondWithoutMapper(ctx, deferred, origin);
    } else if (!pipeline.isEnabled("pages")) {
      const detail = `a ${deferred.kind} was returned, and .pages(…) is not on: call it on the application's builder`;
      throw new FrameworkError(detail, { code: "E_UNRESOLVED" });
    }
  };
}

/**
 * The routes that code added to a @koa/router directly. Code may add routes after the application was built, so each request reads them.
 */
function createAddedRoutesHandler(routes: Routes): UnmatchedHandler {
  return (ctx, fallback) => {
    if (!routes.hasAddedRoutes) return fallback(ctx);
    const layers = routes.listRoutersWithAddedRoutes().map((router) => router.routes());
    return compose(layers, fallback)(ctx);
  };
}
