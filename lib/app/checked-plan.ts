/**
 * A plan in which nothing is wrong that can be known before the first instance is made: modules, routes, settings, and the stages that
 * ask the container for nothing. Every fault of it is in one `StartupError`.
 */
import { Maintenance } from "../stages/maintenance.js";
import { provide, type Binding } from "../di/provide.js";
import { Clock, SystemClock } from "../runtime/clock.js";
import type { Lifecycle } from "../lifecycle/state.js";
import { Readiness } from "../lifecycle/readiness.js";
import { Filter } from "../observe/logging/filter.js";
import { currentLog } from "../observe/logging/install.js";
import { Metrics } from "../observe/metrics/metrics.js";
import { LogSink } from "../observe/logging/sink.js";
import { StderrSink } from "../observe/logging/stderr-sink.js";
import { Routes } from "../routing/routes.js";
import { AppConfig } from "./config.js";
import type { Plan, Ask, StagePlan } from "./plan.js";
import { type Class, nameOf } from "../di/token.js";
import { inspect } from "../di/graph.js";
import type { InspectionResult } from "../di/inspection.js";
import type { TrustedProxies } from "../http/client-address.js";
import { FrameworkError } from "../errors/framework-error.js";
import { ShutdownLast, Subsystem } from "../lifecycle/subsystem.js";
import { StartupError } from "../errors/diagnostic.js";
import { isMiddlewareClass } from "../routing/middleware.js";
import { RateLimits } from "./rate-limit-handles.js";
import { RouteCollection } from "./route-collection.js";
import { checkSettings } from "./settings.js";
import { makeStages, type MadeStage } from "./chain.js";

/**
 * What the framework provides where the application does not: visible everywhere, overridden by any binding of the same token.
 */
export function defaultsOf(
  { lifecycle: { probeTimeoutMs }, fallbacks }: Plan,
  lifecycle: Lifecycle,
  routes: Routes,
): Binding[] {
  return [
    provide(Clock).useFactory(() => new SystemClock()),
    provide(AppConfig).useFactory(() => new AppConfig()),
    provide(Metrics).useFactory(() => new Metrics()),
    provide(Maintenance).useFactory(() => new Maintenance()),
    // What is installed has read the environment; nothing does so here.
    provide(LogSink).useFactory(() => currentLog()?.sink ?? new StderrSink()),
    provide(Filter).useFactory(() => currentLog()?.levels ?? Filter.upTo("INFO")),
    provide(Routes).useValue(routes),
    provide(Readiness).useFactory(
      (resolve) =>
        new Readiness(lifecycle, { clock: resolve(Clock), ...(probeTimeoutMs !== undefined && { probeTimeoutMs }) }),
    ),
    ...fallbacks,
  ];
}

export interface CheckedPlan {
  readonly proxies: TrustedProxies;
  readonly inspected: InspectionResult;
  readonly reading: RouteCollection;
  readonly limits: RateLimits;
  readonly made: readonly MadeStage[];
  /** Stages that ask the container for something. */
  readonly asking: readonly StagePlan[];
}

export function checkPlan(plan: Plan, lifecycle: Lifecycle): CheckedPlan {
  const reading = new RouteCollection(plan.routes);
  const settings = checkSettings(plan);
  const inspected = inspectModules(plan, lifecycle, reading);
  // Most stages ask the container for nothing, so their faults are found together with all others.
  const [asking, plain] = partition(plan.stages, ({ asks }) => asks.length > 0);
  const { made, findings } = makeStages(plain, nothingToAsk);
  const limits = RateLimits.of(made, plan.layers, reading.all);
  const all = [
    ...settings.findings,
    ...inspected.diagnostics,
    ...reading.findings(settings.healthPaths),
    ...findings,
    ...limits.findings(),
  ];
  if (all.length > 0) throw new StartupError(all);
  return { proxies: settings.proxies, inspected, reading, limits, made, asking };
}

function inspectModules(plan: Plan, lifecycle: Lifecycle, reading: RouteCollection): InspectionResult {
  const configured = plan.config === undefined ? [] : [provide(AppConfig).useValue(plan.config)];
  return inspect({
    root: plan.root,
    bindings: [...configured, ...plan.handles, ...plan.bindings],
    overrides: plan.doubles,
    defaults: defaultsOf(plan, lifecycle, reading.all),
    extras: (module) => {
      const classes = reading.classesOf(module);
      return module === undefined
        ? [...classes, ...plan.layers.filter(isMiddlewareClass).map((each) => each as Class)]
        : classes;
    },
    requiredTokens: plan.stages.flatMap(({ call, asks }) => asks.map((token) => ({ token, requiredBy: call }))),
    isCollected: (candidate) => candidate.prototype instanceof Subsystem || candidate.prototype instanceof ShutdownLast,
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
