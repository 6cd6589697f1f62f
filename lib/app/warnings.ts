/**
 * The warnings of an application at its start: settings that are allowed but probably a mistake. Most warnings concern the developer, so
 * only a debug build checks for them. A release build warns of differences between machines, and of requests without protection.
 */
import { existsSync } from "node:fs";
import type Koa from "koa";
import { describeToken } from "../di/token.js";
import { findUnlistedProviders } from "../di/unlisted.js";
import type { Warning } from "../errors/diagnostic.js";
import type { Layer } from "../http/middleware.js";
import type { ShutdownLast } from "../lifecycle/subsystem.js";
import type { Pipeline } from "../pipeline/pipeline.js";
import type { Routes } from "../routing/routes.js";
import { profile } from "../runtime/profile.js";
import { MaintenanceLayer } from "../stages/maintenance/maintenance.js";
import { StaticFiles } from "../stages/static-files/static-files.js";
import { TimeoutLayer } from "../stages/timeout.js";
import { currentSubscriber } from "../tracing/flow.js";
import { Registry, type TracingLayer } from "../tracing/registry.js";
import type { BuiltStage } from "./chain.js";
import type { Plan } from "./plan.js";
import type { RouteCollection } from "./route-collection.js";

export interface WarningSources {
  readonly plan: Plan;
  readonly pipeline: Pipeline;
  readonly routeCollection: RouteCollection;
  readonly stages: readonly BuiltStage[];
  /** The calls of the builder after `build()`. */
  readonly lateCalls: readonly string[];
}

export function listWarnings({
  plan,
  pipeline,
  routeCollection,
  stages,
  lateCalls,
}: WarningSources): readonly Warning[] {
  return [
    ...warnOfMissingRequestId(pipeline),
    ...warnOfUncoveredRoutes(routeCollection.all),
    ...stages.flatMap(warnOfMissingDirectory),
    ...stages.flatMap(({ layer }) => (hasWarnings(layer) ? layer.startWarnings() : [])),
    ...warnOfErrorHandler(plan.koa),
    ...warnOfListen(plan),
    ...(profile === "debug" ? listDebugWarnings({ routeCollection, stages, lateCalls }) : []),
  ];
}

type DebugSources = Pick<WarningSources, "routeCollection" | "stages" | "lateCalls">;

function listDebugWarnings({ routeCollection, stages, lateCalls }: DebugSources): readonly Warning[] {
  return [
    ...routeCollection.warnings(),
    ...warnOfLateCalls(lateCalls),
    ...stages.flatMap(warnOfTemplates),
    ...stages.flatMap(warnOfRepeatedRequests),
  ];
}

/** Checked only in `run()`: tests load controllers that they do not serve, and use a separate log subscriber. */
export function listProcessWarnings(
  routeCollection: RouteCollection,
  shutdownLast: readonly ShutdownLast[],
): readonly Warning[] {
  if (profile !== "debug") return [];
  return [
    ...routeCollection.warnOfUnlistedControllers(),
    ...findUnlistedProviders(),
    ...listTelemetryWarnings(shutdownLast),
  ];
}

/** Warnings about the front end: its build is missing, or a release build was given a development server. */
export function listPageWarnings({ pages, devProxy }: Pick<Plan, "pages" | "devProxy">): readonly Warning[] {
  const messages = [...(pages?.warnings() ?? [])];
  if (devProxy === "ignored") messages.push("the development proxy is ignored in a release build");
  return messages.map((message) => ({ message }));
}

function warnOfMissingRequestId(pipeline: Pipeline): readonly Warning[] {
  if (!pipeline.isEnabled("accessLog") || pipeline.isEnabled("requestId")) return [];
  return [{ message: "the access log is on and the request id is off: its lines have an empty request_id" }];
}

function warnOfUncoveredRoutes(all: Routes): readonly Warning[] {
  const routes = all.listUncovered().map(({ method, path }) => `${method} ${path}`);
  if (routes.length === 0) return [];
  return [{ message: "routes merged after .middleware() are not covered by it", fields: { routes } }];
}

/** A stage that the core does not load, with settings that are allowed but probably a mistake. */
interface HasWarnings {
  startWarnings(): readonly Warning[];
}

function hasWarnings(layer: Layer): layer is Layer & HasWarnings {
  return "startWarnings" in layer;
}

function warnOfMissingDirectory({ layer }: BuiltStage): readonly Warning[] {
  // With a trailing slash, `stat` finds only directories.
  if (!(layer instanceof StaticFiles) || existsSync(`${layer.root}/`)) return [];
  const message = "the directory of .staticFiles(…) does not exist: no file of it is served";
  return [{ message, fields: { root: layer.root } }];
}

/** koa-onerror replaces it. Here an error becomes a response inside the pipeline, where the stages complete its head. */
function warnOfErrorHandler({ context }: Koa): readonly Warning[] {
  if (!Object.hasOwn(context, "onerror")) return [];
  const message =
    "koa.context.onerror was replaced, and has no effect on the responses to errors: use .errorMapping(new ErrorMapping().using(mapper))";
  return [{ message }];
}

/** koa-websocket replaces it. */
function warnOfListen({ koa, attachments }: Plan): readonly Warning[] {
  if (!Object.hasOwn(koa, "listen") || attachments.length > 0) return [];
  const message = "koa.listen was replaced, as koa-websocket does, and run() and serve() do not call it";
  return [{ message, fields: { fix: ".attach((server) => builder.koa.ws.listen({ server }))" } }];
}

function warnOfLateCalls(calls: readonly string[]): readonly Warning[] {
  if (calls.length === 0) return [];
  return [{ message: "the builder was called after build(): the calls have no effect", fields: { calls } }];
}

function warnOfTemplates({ layer }: BuiltStage): readonly Warning[] {
  const paths = layer instanceof MaintenanceLayer ? layer.maintenance.templates : [];
  if (paths.length === 0) return [];
  const message = "Maintenance.allow() compares text and knows no {name}: allow the part of the path before it";
  return [{ message, fields: { paths } }];
}

function warnOfRepeatedRequests({ layer }: BuiltStage): readonly Warning[] {
  if (!(layer instanceof TimeoutLayer) || layer.status !== undefined) return [];
  const message =
    "a slow handler gets the status 408, and on a reused connection a browser then sends the request again, a POST too: use .timeout(ms, { status: 503 })";
  return [{ message }];
}

/** Spans reach an exporter through its layer, and the last ones only if the application shuts the exporter down. */
function listTelemetryWarnings(shutdownLast: readonly ShutdownLast[]): readonly Warning[] {
  const subscriber = currentSubscriber();
  // The layers of a subscriber that is not a registry are unknown.
  if (subscriber !== undefined && !(subscriber instanceof Registry)) return [];
  const installed = new Set(subscriber?.layers);
  const exportersByLayer = new Map(shutdownLast.map((each) => [each.tracingLayer?.(), each]));
  const withoutLayer = [...exportersByLayer].filter(([layer]) => layer !== undefined && !installed.has(layer));
  const withoutExporter = [...installed].filter(
    (layer) => layer.needsShutdown === true && !exportersByLayer.has(layer),
  );
  return [
    ...withoutLayer.map(([, exporter]) => warnOfMissingLayer(exporter)),
    ...withoutExporter.map(warnOfMissingExporter),
  ];
}

function warnOfMissingLayer(exporter: ShutdownLast): Warning {
  const name = describeToken(exporter.constructor);
  const message = `${name} is provided and its layer is not installed: it exports no spans`;
  return { message, fields: { fix: "installLogging(filter, telemetry.tracingLayer())" } };
}

function warnOfMissingExporter(layer: TracingLayer): Warning {
  const message = "a layer that exports spans is installed and its exporter is not provided: the last spans are lost";
  const fix = "builder.provide(provide(Telemetry).useValue(telemetry))";
  return { message, fields: { layer: describeToken(layer.constructor), fix } };
}
