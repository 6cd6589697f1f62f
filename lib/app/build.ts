/**
 * From what the builder was told to an application: everything is checked before the first instance is made, every fault is in one
 * `StartupError`, and the stages are composed in the order of the table. Opens nothing, starts no timer.
 */
import type Koa from "koa";
import type { Class } from "../di/class.js";
import type { Container } from "../di/container.js";
import { inspect } from "../di/graph.js";
import type { Inspected } from "../di/inspection.js";
import { provide } from "../di/provide.js";
import { DEFAULT_READ_LIMIT } from "../kernel/body-reader.js";
import { nameOf } from "../di/token.js";
import { Clock } from "../kernel/clock.js";
import { FrameworkError } from "../kernel/errors.js";
import { profile } from "../kernel/profile.js";
import { ShutdownLast } from "../kernel/shutdown-last.js";
import { StartupError, type Finding } from "../kernel/startup-error.js";
import { Health } from "../lifecycle/health.js";
import { Lifecycle } from "../lifecycle/lifecycle.js";
import { completeLifecycleOptions, type LifecycleOptions } from "../lifecycle/lifecycle-options.js";
import { Readiness } from "../lifecycle/readiness.js";
import { Startup } from "../lifecycle/startup.js";
import type { Pipeline } from "../pipeline/pipeline.js";
import { isMiddlewareClass } from "../routing/middleware-input.js";
import type { Routes } from "../routing/routes.js";
import { Roster } from "../subsystems/roster.js";
import { Subsystem } from "../subsystems/subsystem.js";
import { ApplicationLog } from "./application-log.js";
import { AppConfig } from "./config.js";
import { defaultsOf } from "./defaults.js";
import { Entrance } from "./entrance.js";
import { describeGraph, type ApplicationGraph } from "./graph.js";
import type { Ask, Plan } from "./plan.js";
import { RateLimits } from "./rate-limits.js";
import { RouteReading } from "./route-reading.js";
import { checkSettings } from "./settings.js";
import { entryOf, fillPipeline, makeStages, type EntryOf } from "./stages.js";
import { warningsOf, type Warning } from "./warnings.js";

/** Everything a built application consists of. */
export interface Assembly {
  readonly config: AppConfig;
  readonly clock: Clock;
  readonly host: string;
  readonly port: number | undefined;
  readonly times: Required<LifecycleOptions>;
  readonly container: Container;
  readonly log: ApplicationLog;
  readonly routes: Routes;
  readonly pipeline: Pipeline;
  readonly entrance: Entrance;
  readonly lifecycle: Lifecycle;
  readonly readiness: Readiness;
  readonly roster: Roster;
  readonly startup: Startup;
  /** What is shut down after the last subsystem. */
  readonly last: readonly ShutdownLast[];
  readonly graph: ApplicationGraph;
  /** What is legal and probably not meant; told at the start. */
  readonly warnings: readonly Warning[];
  readonly entry: EntryOf;
}

export function assemble(plan: Plan, koa: Koa): Assembly {
  const lifecycle = new Lifecycle();
  const reading = new RouteReading(plan.routes);
  const settings = checkSettings(plan);
  const inspected = inspectModules(plan, lifecycle, reading);
  // Most stages ask the container for nothing, so their faults are found together with all others.
  const [asking, plain] = partition(plan.stages, ({ asks }) => asks.length > 0);
  const early = makeStages(plain, nothingToAsk);
  const limits = RateLimits.of(early, plan.layers, reading.all);
  refuse([
    ...settings.findings,
    ...inspected.findings,
    ...reading.findings(settings.healthPaths),
    ...early.findings,
    ...limits.findings(),
  ]);

  const container = inspected.build();
  reading.resolveWith(container);
  const subsystems = container.instances().filter((each) => each instanceof Subsystem);
  const roster = new Roster([...new Set([...subsystems, ...limits.caches()])]);
  const config = container.get(AppConfig);
  refuse([...roster.check(), ...config.check()]);

  const clock = container.get(Clock);
  const readiness = container.get(Readiness);
  const health = plan.health ? new Health(readiness, plan.healthPrefix) : undefined;
  const site = { routes: reading.all, origin: new URL(config.url).origin };
  const late = makeStages(asking, container);
  refuse(late.findings);
  const pipeline = fillPipeline(plan, { stages: [...early.made, ...late.made], container, health, site });

  const times = completeLifecycleOptions(plan.lifecycle, profile);
  const shared = { app: koa, clock, proxies: settings.proxies, readLimit: DEFAULT_READ_LIMIT };
  const log = new ApplicationLog(container);
  const entry = entryOf(pipeline, { reading, site, log });
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
    entrance: new Entrance(shared),
    lifecycle,
    readiness,
    roster,
    startup: new Startup(roster.members, clock, times.stopTimeoutMs),
    last: container.instances().filter((each) => each instanceof ShutdownLast),
    graph: describeGraph(inspected.modules, reading.origins(), pipeline.describe()),
    warnings: warningsOf(pipeline, reading.all),
    entry,
  };
}

function inspectModules(plan: Plan, lifecycle: Lifecycle, reading: RouteReading): Inspected {
  const configured = plan.config === undefined ? [] : [provide(AppConfig).useValue(plan.config)];
  return inspect({
    root: plan.root,
    bindings: [...configured, ...plan.handles, ...plan.bindings],
    doubles: plan.doubles,
    defaults: defaultsOf(plan, lifecycle, reading.all),
    extras: (module) => {
      const classes = reading.classesOf(module);
      return module === undefined
        ? [...classes, ...plan.layers.filter(isMiddlewareClass).map((each) => each as Class)]
        : classes;
    },
    wanted: plan.stages.flatMap(({ call, asks }) => asks.map((token) => ({ token, by: call }))),
    collects: (candidate) => candidate.prototype instanceof Subsystem || candidate.prototype instanceof ShutdownLast,
  });
}

const nothingToAsk: Ask = {
  get(token) {
    throw new FrameworkError(`the stage asked for ${nameOf(token)} without saying so`, { code: "E_STAGE_ASKS" });
  },
};

function partition<T>(all: readonly T[], holds: (each: T) => boolean): [T[], T[]] {
  return [all.filter(holds), all.filter((each) => !holds(each))];
}

function refuse(findings: readonly Finding[]): void {
  if (findings.length > 0) throw new StartupError(findings);
}
