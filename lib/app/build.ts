/**
 * From what the builder was told to an application: first what can be checked without an instance, then the container and what it says,
 * then the stages in the order of the table. Opens nothing, starts no timer.
 */
import { existsSync } from "node:fs";
import type Koa from "koa";
import type { Layer } from "../http/middleware.js";
import type { Pipeline } from "../pipeline/pipeline.js";
import type { Routes } from "../routing/routes.js";
import { StaticFiles } from "../stages/static-files/static-files.js";
import { type MadeStage, entryOf, fillPipeline, makeStages, type EntryOf } from "./chain.js";
import type { Container } from "../di/container.js";
import { DEFAULT_READ_LIMIT } from "../http/body-reader.js";
import { Clock } from "../runtime/clock.js";
import { profile } from "../runtime/profile.js";
import { ShutdownLast, Subsystem } from "../lifecycle/subsystem.js";
import { StartupError, type Diagnostic } from "../errors/diagnostic.js";
import { Lifecycle } from "../lifecycle/state.js";
import { completeLifecycleOptions, type LifecycleOptions } from "../lifecycle/options.js";
import { Readiness } from "../lifecycle/readiness.js";
import { Startup } from "../lifecycle/startup.js";
import { SubsystemRegistry } from "../lifecycle/subsystem-registry.js";
import { ApplicationLog } from "./application-log.js";
import { checkPlan, type CheckedPlan } from "./checked-plan.js";
import { AppConfig } from "./config.js";
import { RequestHandler } from "../server/request-handler.js";
import { describeGraph, type ApplicationGraph } from "./graph.js";
import type { Plan } from "./plan.js";
import type { RateLimits } from "./rate-limit-handles.js";

/** What is legal and probably not meant, told once when the application starts. */
export interface Warning {
  readonly message: string;
  readonly fields?: Readonly<Record<string, unknown>>;
}

export interface WarningParts {
  readonly pipeline: Pipeline;
  readonly routes: Routes;
  readonly stages: readonly MadeStage[];
}

/** To be asked when serving begins: a directory may have been made since the application was built. */
export function warningsOf({ pipeline, routes, stages }: WarningParts): readonly Warning[] {
  const warnings: Warning[] = [];
  if (pipeline.isOn("accessLog") && !pipeline.isOn("requestId")) {
    warnings.push({ message: "the access log is on and the request id is off: its lines have an empty request_id" });
  }
  const uncovered = routes.uncovered().map(({ method, path }) => `${method} ${path}`);
  if (uncovered.length > 0) {
    warnings.push({
      message: "routes merged after .middleware() are not covered by it",
      fields: { routes: uncovered },
    });
  }
  return [...warnings, ...stages.flatMap(({ layer }) => warningOfFiles(layer))];
}

function warningOfFiles(layer: Layer): readonly Warning[] {
  // With a slash behind it only a directory exists.
  if (!(layer instanceof StaticFiles) || existsSync(`${layer.root}/`)) return [];
  return [
    {
      message: "the directory of .staticFiles(…) does not exist: nothing of it is served",
      fields: { root: layer.root },
    },
  ];
}

/** Everything a built application consists of. */
export interface ApplicationParts {
  readonly config: AppConfig;
  readonly clock: Clock;
  readonly host: string;
  readonly port: number | undefined;
  readonly times: Required<LifecycleOptions>;
  readonly container: Container;
  readonly log: ApplicationLog;
  readonly routes: Routes;
  readonly pipeline: Pipeline;
  readonly entrance: RequestHandler;
  readonly lifecycle: Lifecycle;
  readonly readiness: Readiness;
  readonly roster: SubsystemRegistry;
  readonly startup: Startup;
  /** What is shut down after the last subsystem. */
  readonly last: readonly ShutdownLast[];
  readonly graph: ApplicationGraph;
  /** What is legal and probably not meant; told at the start. */
  readonly warnings: () => readonly Warning[];
  readonly entry: EntryOf;
}

export function assemble(plan: Plan, koa: Koa): ApplicationParts {
  const lifecycle = new Lifecycle();
  const checked = checkPlan(plan, lifecycle);
  const { inspected, reading, proxies } = checked;
  const container = inspected.build();
  reading.resolveWith(container);
  const roster = rosterOf(container, checked.limits);
  const config = container.get(AppConfig);
  refuse([...roster.check(), ...config.check()]);

  const clock = container.get(Clock);
  const times = completeLifecycleOptions(plan.lifecycle, profile);
  const log = new ApplicationLog(container);
  const site = { routes: reading.all, origin: new URL(config.url).origin };
  const stages = makeAll(checked, container);
  const pipeline = fillPipeline(plan, { stages, container, site });
  return {
    config,
    clock,
    host: plan.host,
    port: plan.port,
    times,
    container,
    log,
    routes: reading.all,
    pipeline,
    entrance: new RequestHandler({ app: koa, clock, proxies, readLimit: DEFAULT_READ_LIMIT }),
    lifecycle,
    readiness: container.get(Readiness),
    roster,
    startup: new Startup(roster.members, clock, times.stopTimeoutMs),
    last: container.instances().filter((each) => each instanceof ShutdownLast),
    graph: describeGraph(inspected.modules, reading.graphRoutes(), pipeline.describe()),
    warnings: () => warningsOf({ pipeline, routes: reading.all, stages }),
    entry: entryOf(pipeline, { reading, site, log }),
  };
}

/** Provided or not, the caches of rate limits are started with the others. */
function rosterOf(container: Container, limits: RateLimits): SubsystemRegistry {
  const provided = container.instances().filter((each) => each instanceof Subsystem);
  return new SubsystemRegistry([...new Set([...provided, ...limits.caches()])]);
}

function makeAll({ made, asking }: CheckedPlan, container: Container): readonly MadeStage[] {
  const late = makeStages(asking, container);
  refuse(late.findings);
  return [...made, ...late.made];
}

function refuse(findings: readonly Diagnostic[]): void {
  if (findings.length > 0) throw new StartupError(findings);
}
