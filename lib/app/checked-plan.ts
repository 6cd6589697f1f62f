/**
 * `checkPlan` finds every fault that shows before the first instance exists: in modules, routes, settings, and stages that need no
 * instance of the container. It throws all of them in one `StartupError`.
 */
import { Maintenance } from "../stages/maintenance/maintenance.js";
import { provide, type Binding, type Resolve } from "../di/provide.js";
import { Clock, SystemClock } from "../runtime/clock.js";
import { Events } from "../events/events.js";
import type { Lifecycle } from "../lifecycle/state.js";
import { Readiness } from "../lifecycle/readiness.js";
import { Filter } from "../observe/logging/filter.js";
import { currentLog } from "../observe/logging/install.js";
import { Metrics } from "../observe/metrics/metrics.js";
import { LogSink } from "../observe/logging/sink.js";
import { StderrSink } from "../observe/logging/stderr-sink.js";
import { Routes } from "../routing/routes.js";
import { AppConfig } from "./config.js";
import { hasErrorPages } from "./front-end.js";
import type { Plan, StagePlan } from "./plan.js";
import { describeToken } from "../di/token.js";
import { inspect } from "../di/graph.js";
import type { InspectionResult } from "../di/inspection.js";
import type { TrustedProxies } from "../http/request/client-address.js";
import { FrameworkError } from "../errors/framework-error.js";
import { ShutdownLast, Subsystem } from "../lifecycle/subsystem.js";
import { StartupError } from "../errors/diagnostic.js";
import { hasGuards } from "../contracts/guards.js";
import { IdempotencyProvider } from "../contracts/idempotency-provider.js";
import { RateLimits } from "./rate-limit-handles.js";
import { RouteCollection } from "./route-collection.js";
import { checkSettings } from "./check-settings.js";
import { buildStages, type BuiltStage } from "./chain.js";

/** The container creates the providers of these classes, also where no class injects them. */
const COLLECTED = [Subsystem, ShutdownLast, IdempotencyProvider];

export interface CheckedPlan {
  readonly proxies: TrustedProxies;
  readonly inspected: InspectionResult;
  readonly routeCollection: RouteCollection;
  readonly limits: RateLimits;
  /** The stages that need no instance of the container. */
  readonly stages: readonly BuiltStage[];
  readonly stagesWithDependencies: readonly StagePlan[];
}

export function checkPlan(plan: Plan, lifecycle: Lifecycle): CheckedPlan {
  const routeCollection = new RouteCollection(plan.routes, plan.bindings, plan.layers);
  const settings = checkSettings(plan);
  const inspected = inspectModules(plan, lifecycle, routeCollection);
  // Most stages need no instance of the container. Building them now reports their faults together with all others.
  const withoutNeeds = plan.stages.filter(({ needs }) => needs.length === 0);
  const { stages, diagnostics } = buildStages(withoutNeeds, refuseToResolve);
  const limits = RateLimits.of(stages, plan.layers, routeCollection.all);
  const all = [
    ...settings.diagnostics,
    ...inspected.diagnostics,
    ...routeCollection.check(settings.healthPaths, plan.uagPath),
    ...(plan.apiDocs?.describe(
      routeCollection.all.descriptors(),
      {
        checksCsrf: plan.stages.some(({ slot }) => slot === "csrf"),
        hasErrorPages: hasErrorPages(plan),
      },
      plan.csrf?.names,
    ) ?? []),
    ...diagnostics,
    ...limits.diagnostics(),
  ];
  if (all.length > 0) throw new StartupError(all);
  const stagesWithDependencies = plan.stages.filter(({ needs }) => needs.length > 0);
  return { proxies: settings.proxies, inspected, routeCollection, limits, stages, stagesWithDependencies };
}

function inspectModules(plan: Plan, lifecycle: Lifecycle, routeCollection: RouteCollection): InspectionResult {
  const configured = plan.config === undefined ? [] : [provide(AppConfig).useValue(plan.config)];
  return inspect({
    root: plan.root,
    bindings: [...configured, ...plan.handles, ...plan.bindings],
    overrides: plan.testOverrides,
    defaults: createDefaultBindings(plan, lifecycle, routeCollection.all),
    extras: (module) => routeCollection.readClasses(module),
    requiredTokens: plan.stages.flatMap(({ call, needs }) => needs.map((token) => ({ token, requiredBy: call }))),
    isCollected: (candidate) => COLLECTED.some((each) => candidate.prototype instanceof each) || hasGuards(candidate),
  });
}

/** The bindings of the framework. Every module sees them; any binding of the application overrides them. */
function createDefaultBindings(
  { lifecycle: { probeTimeoutMs }, testDefaults }: Plan,
  lifecycle: Lifecycle,
  routes: Routes,
): Binding[] {
  return [
    provide(Clock).useFactory(() => new SystemClock()),
    provide(AppConfig).useFactory(() => new AppConfig()),
    provide(Metrics).useFactory(() => new Metrics()),
    provide(Events).useFactory((resolve) => new Events(resolve(Clock))),
    provide(Maintenance).useFactory(() => new Maintenance()),
    // `installLogging` has read the environment; this code does not.
    provide(LogSink).useFactory(() => currentLog()?.sink ?? new StderrSink()),
    provide(Filter).useFactory(() => currentLog()?.levels ?? Filter.upTo("INFO")),
    provide(Routes).useValue(routes),
    provide(Readiness).useFactory(
      (resolve) =>
        new Readiness(lifecycle, { clock: resolve(Clock), ...(probeTimeoutMs !== undefined && { probeTimeoutMs }) }),
    ),
    ...testDefaults,
  ];
}

const refuseToResolve: Resolve = (token) => {
  throw new FrameworkError(`the stage resolves ${describeToken(token)}, which is not among its needs: add it there`, {
    code: "E_STAGE_ASKS",
  });
};
