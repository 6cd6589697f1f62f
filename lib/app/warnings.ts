/**
 * What an application warns of when it starts: settings that are allowed and probably a mistake. Most of them concern the developer, so
 * only a debug build looks for them; a release build warns of what may differ between two machines, and of requests without protection.
 */
import { existsSync } from "node:fs";
import type Koa from "koa";
import { nameOf } from "../di/token.js";
import { unlistedProviders } from "../di/unlisted.js";
import type { Warning } from "../errors/diagnostic.js";
import type { Layer } from "../http/middleware.js";
import type { ShutdownLast } from "../lifecycle/subsystem.js";
import type { Pipeline } from "../pipeline/pipeline.js";
import type { Routes } from "../routing/routes.js";
import { profile } from "../runtime/profile.js";
import { MaintenanceLayer } from "../stages/maintenance.js";
import { StaticFiles } from "../stages/static-files/static-files.js";
import { TimeoutLayer } from "../stages/timeout.js";
import { currentSubscriber } from "../tracing/flow.js";
import { Registry, type TracingLayer } from "../tracing/registry.js";
import type { BuiltStage } from "./chain.js";
import type { Plan } from "./plan.js";
import type { RouteCollection } from "./route-collection.js";

export interface WarningSources {
  readonly koa: Koa;
  readonly pipeline: Pipeline;
  readonly routeCollection: RouteCollection;
  readonly stages: readonly BuiltStage[];
  /** The calls of the builder after `build()`. */
  readonly lateCalls: readonly string[];
}

export function warningsOf({ koa, pipeline, routeCollection, stages, lateCalls }: WarningSources): readonly Warning[] {
  return [
    ...idlessAccessLog(pipeline),
    ...uncoveredRoutes(routeCollection.all),
    ...stages.flatMap(missingDirectory),
    ...stages.flatMap(({ layer }) => (hasWarnings(layer) ? layer.startWarnings() : [])),
    ...replacedErrorHandler(koa),
    ...(profile === "debug" ? debugWarnings({ routeCollection, stages, lateCalls }) : []),
  ];
}

type DebugSources = Pick<WarningSources, "routeCollection" | "stages" | "lateCalls">;

function debugWarnings({ routeCollection, stages, lateCalls }: DebugSources): readonly Warning[] {
  return [
    ...routeCollection.warnings(),
    ...late(lateCalls),
    ...stages.flatMap(templates),
    ...stages.flatMap(repeatedRequests),
  ];
}

/** Looked for only in `run()`: tests load controllers that they do not serve, and have a log subscriber of their own. */
export function processWarnings(
  routeCollection: RouteCollection,
  shutdownLast: readonly ShutdownLast[],
): readonly Warning[] {
  if (profile !== "debug") return [];
  return [...routeCollection.unlistedControllers(), ...unlistedProviders(), ...telemetryWarnings(shutdownLast)];
}

/** Warnings about the front end: its build is missing, or a release build was given a development server. */
export function pageWarnings({ pages, devProxy }: Pick<Plan, "pages" | "devProxy">): readonly Warning[] {
  const messages = [...(pages?.warnings() ?? [])];
  if (devProxy === "ignored") messages.push("the development proxy is ignored in a release build");
  return messages.map((message) => ({ message }));
}

function idlessAccessLog(pipeline: Pipeline): readonly Warning[] {
  if (!pipeline.isOn("accessLog") || pipeline.isOn("requestId")) return [];
  return [{ message: "the access log is on and the request id is off: its lines have an empty request_id" }];
}

function uncoveredRoutes(all: Routes): readonly Warning[] {
  const routes = all.uncovered().map(({ method, path }) => `${method} ${path}`);
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

function missingDirectory({ layer }: BuiltStage): readonly Warning[] {
  // With a trailing slash, `stat` finds only directories.
  if (!(layer instanceof StaticFiles) || existsSync(`${layer.root}/`)) return [];
  const message = "the directory of .staticFiles(…) does not exist: nothing of it is served";
  return [{ message, fields: { root: layer.root } }];
}

/** koa-onerror replaces it. Here an error becomes an answer inside the pipeline, where the stages complete its head. */
function replacedErrorHandler({ context }: Koa): readonly Warning[] {
  if (!Object.hasOwn(context, "onerror")) return [];
  const message =
    "koa.context.onerror was replaced, and has no effect on the answers to errors: use .errorMapping(new ErrorMapping().using(mapper))";
  return [{ message }];
}

function late(calls: readonly string[]): readonly Warning[] {
  if (calls.length === 0) return [];
  return [{ message: "the builder was called after build(): the calls have no effect", fields: { calls } }];
}

function templates({ layer }: BuiltStage): readonly Warning[] {
  const paths = layer instanceof MaintenanceLayer ? layer.maintenance.templates : [];
  if (paths.length === 0) return [];
  const message = "Maintenance.allow() compares text and knows no {name}: allow the part of the path before it";
  return [{ message, fields: { paths } }];
}

function repeatedRequests({ layer }: BuiltStage): readonly Warning[] {
  if (!(layer instanceof TimeoutLayer) || layer.status !== undefined) return [];
  const message =
    "a slow handler is answered 408, and on a reused connection a browser then sends the request again, a POST too: use .timeout(ms, { status: 503 })";
  return [{ message }];
}

/** Spans reach an exporter through its layer, and the last ones only if the application shuts the exporter down. */
function telemetryWarnings(shutdownLast: readonly ShutdownLast[]): readonly Warning[] {
  const subscriber = currentSubscriber();
  // The layers of a subscriber that is not a registry are unknown.
  if (subscriber !== undefined && !(subscriber instanceof Registry)) return [];
  const installed = new Set(subscriber?.layers);
  const owned = new Map(shutdownLast.map((each) => [each.tracingLayer?.(), each]));
  const withoutLayer = [...owned].filter(([layer]) => layer !== undefined && !installed.has(layer));
  const withoutOwner = [...installed].filter((layer) => layer.needsShutdown === true && !owned.has(layer));
  return [...withoutLayer.map(([, owner]) => layerMissing(owner)), ...withoutOwner.map(ownerMissing)];
}

function layerMissing(owner: ShutdownLast): Warning {
  const name = nameOf(owner.constructor);
  const message = `${name} is provided and its layer is not installed: it exports no spans`;
  return { message, fields: { fix: "installLogging(filter, telemetry.tracingLayer())" } };
}

function ownerMissing(layer: TracingLayer): Warning {
  const message = "a layer that exports spans is installed and its owner is not provided: the last spans are lost";
  const fix = "builder.provide(provide(Telemetry).useValue(telemetry))";
  return { message, fields: { layer: nameOf(layer.constructor), fix } };
}
