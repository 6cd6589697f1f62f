/**
 * The builder's stages put into their slots, and the slots composed around the router: once, when the application is built.
 */
import type { Container } from "../di/container.js";
import type { Deferred } from "../http/returned-value.js";
import { compose } from "../http/compose.js";
import type { Context } from "../http/context.js";
import { FrameworkError } from "../errors/framework-error.js";
import type { Layer, Run } from "../http/middleware.js";
import type { Diagnostic } from "../errors/diagnostic.js";
import { enterRequest } from "../tracing/flow.js";
import { Health, HealthLayer } from "../stages/health.js";
import { Readiness } from "../lifecycle/readiness.js";
import { lastResortHandler, errorBoundary } from "../pipeline/error-boundary.js";
import { Pipeline } from "../pipeline/pipeline.js";
import type { Slot } from "../pipeline/table.js";
import { dispatch, type UnmatchedHandler } from "../routing/router.js";
import { isMiddlewareClass } from "../routing/middleware.js";
import { Redirect } from "../stages/redirects/redirect.js";
import {
  answerRedirect,
  NO_ROUTES,
  RedirectMapperLayer,
  type RedirectSite,
} from "../stages/redirects/redirect-mapper.js";
import type { Routes } from "../routing/routes.js";
import type { ApplicationLog } from "./application-log.js";
import { BootingLayer } from "../stages/maintenance.js";
import type { RequestChain } from "../server/request-handler.js";
import type { Ask, Plan, StagePlan } from "./plan.js";
import type { RouteCollection } from "./route-collection.js";
import { findingOf } from "./settings.js";

export interface MadeStage {
  readonly slot: Slot;
  readonly call: string;
  readonly layer: Layer;
}

/** Stages that were made, and why others could not be. */
export interface MadeStages {
  readonly made: readonly MadeStage[];
  readonly findings: readonly Diagnostic[];
}

/** Makes stages; what one throws is a finding under the name of its call. */
export function makeStages(plans: readonly StagePlan[], ask: Ask): MadeStages {
  const made: MadeStage[] = [];
  const findings: Diagnostic[] = [];
  for (const { slot, call, make } of plans) {
    try {
      made.push({ slot, call, layer: make(ask) });
    } catch (error) {
      findings.push(findingOf(error, call));
    }
  }
  return { made, findings };
}

export interface StageParts {
  readonly stages: readonly MadeStage[];
  readonly container: Container;
  readonly site: RedirectSite;
}

export function fillPipeline(plan: Plan, { stages, container, site }: StageParts): Pipeline {
  const pipeline = new Pipeline().mark("router");
  for (const { slot, layer } of stages) pipeline.put(slot, layer);
  if (plan.health) {
    pipeline.put("health", new HealthLayer(new Health(container.get(Readiness), plan.healthPrefix)));
  }
  if (plan.redirectMapper) pipeline.put("redirectMapper", new RedirectMapperLayer(site));
  for (const layer of plan.layers) pipeline.put("layers", isMiddlewareClass(layer) ? container.get(layer) : layer);
  return pipeline;
}

export interface EntryParts {
  readonly reading: RouteCollection;
  readonly site: RedirectSite;
  readonly log: ApplicationLog;
}

/** The chain of a phase, made when it is first needed. */
export function entryOf(pipeline: Pipeline, { reading, site, log }: EntryParts): EntryOf {
  const unresolved = unresolvedIn(pipeline, { routes: NO_ROUTES, origin: site.origin });
  return (phase) => {
    const fallback = (inner: Run): Run => pipeline.composeFallback(inner);
    const router = dispatch(reading.boundRoutes(), { addedRoutes: byHand(reading.all), fallback });
    const gate = phase === "booting" ? new BootingLayer() : undefined;
    const entry = lastResortHandler(
      pipeline.compose(router, { boundary: (inner) => errorBoundary(inner, unresolved), gate }),
    );
    const { subscriber } = log;
    if (subscriber === undefined && !opensSpans(pipeline)) return entry;
    return (ctx) => enterRequest(entry, ctx, subscriber);
  };
}

export type EntryOf = (phase: "booting" | "ready") => RequestChain;

/** What a handler may return although the stage that resolves it is off. */
function unresolvedIn(pipeline: Pipeline, site: RedirectSite): (ctx: Context, deferred: Deferred) => void {
  return (ctx, deferred) => {
    if (deferred instanceof Redirect) {
      if (!pipeline.isOn("redirectMapper")) answerRedirect(ctx, deferred, site);
    } else if (!pipeline.isOn("pages")) {
      throw new FrameworkError(`a ${deferred.kind} was returned, and no stage resolves it`, { code: "E_UNRESOLVED" });
    }
  };
}

/** Entering an asynchronous flow has a price, paid once a request, where a stage opens a span or the log is the application's own. */
function opensSpans(pipeline: Pipeline): boolean {
  return pipeline.isOn("traceContext") || pipeline.isOn("accessLog");
}

/** Routes that someone added to a @koa/router by hand, also after the application was built. */
function byHand(routes: Routes): UnmatchedHandler {
  return (ctx, fallback) => {
    if (!routes.hasAddedRoutes) return fallback(ctx);
    const layers = routes.routersWithAddedRoutes().map((router) => router.routes());
    return compose(layers, fallback)(ctx);
  };
}
