/**
 * The steps of `build()`: check the plan, build the container, check its instances, build the stages, fill the pipeline. Opens no
 * connection and starts no timer.
 */
import type { KoaApplication, SharedContextValues } from "../http/koa/koa-application.js";
import type { Layer } from "../http/middleware.js";
import type { Pipeline } from "../pipeline/pipeline.js";
import type { Routes } from "../routing/routes.js";
import { BootingLayer } from "../stages/maintenance/maintenance.js";
import { UagEndpointLayer } from "../stages/uag-endpoint.js";
import { DevFallbackLayer } from "../stages/dev-proxy/dev-proxy.js";
import { type BuiltStages, createComposer, fillPipeline, buildStages } from "./chain.js";
import { type ApplicationCommand, checkCommands, listCommands } from "../commands/command.js";
import type { Container } from "../di/container.js";
import type { ProblemTranslator, UploadReader } from "../http/request/exchange.js";
import { DEFAULT_READ_LIMIT } from "../http/body/body-reader.js";
import { markListed } from "../di/unlisted.js";
import { Events } from "../events/events.js";
import { Clock } from "../runtime/clock.js";
import { profile } from "../runtime/profile.js";
import { ShutdownLast, Subsystem } from "../lifecycle/subsystem.js";
import { StartupError, type Diagnostic, type Warning } from "../errors/diagnostic.js";
import { Lifecycle } from "../lifecycle/state.js";
import { completeLifecycleOptions, type LifecycleOptions } from "../lifecycle/lifecycle-options.js";
import { Readiness } from "../lifecycle/readiness.js";
import { Startup } from "../lifecycle/startup.js";
import { SubsystemRegistry } from "../lifecycle/subsystem-registry.js";
import { Metrics } from "../observe/metrics/metrics.js";
import { ApplicationLog } from "./application-log.js";
import { checkPlan, type CheckedPlan } from "./checked-plan.js";
import { findIdempotencyProviders } from "../contracts/idempotency-provider.js";
import { AppConfig } from "./config.js";
import type { ServerAttachment } from "../server/listener.js";
import { describeGraph, type ApplicationGraph } from "./graph/graph.js";
import { readModules } from "./graph/graph-modules.js";
import { hasErrorPages } from "./front-end.js";
import type { Plan } from "./plan.js";
import { listPageWarnings, listProcessWarnings, listWarnings } from "./warnings.js";

/** The parts of a built application. */
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
  readonly koa: KoaApplication;
  /** Refuses requests while the application starts. */
  readonly booting: BootingLayer;
  readonly attachments: readonly ServerAttachment[];
  readonly lifecycle: Lifecycle;
  readonly readiness: Readiness;
  readonly subsystems: SubsystemRegistry;
  readonly startup: Startup;
  readonly events: Events;
  readonly commands: readonly ApplicationCommand[];
  /** Shut down after the last subsystem. */
  readonly shutdownLast: readonly ShutdownLast[];
  /** Describes the application at the first call. */
  readonly graph: () => ApplicationGraph;
  readonly hasErrorPages: boolean;
  /** The routes that the CSRF stage does not check. */
  readonly csrfExempt: readonly string[];
  /** Called when the application starts to serve: a directory may have been created since the application was built. */
  readonly warnings: () => readonly Warning[];
  /** Mistakes of the process as a whole. Only `run()` knows that the process is this application. */
  readonly processWarnings: () => readonly Warning[];
}

export function buildParts(plan: Plan): ApplicationParts {
  const lifecycle = new Lifecycle();
  const checked = checkPlan(plan, lifecycle);
  const container = checked.inspected.build();
  throwIfAny(checked.routeCollection.resolveWith(container, toContractRules(plan)));
  const built = buildAllStages(checked, container);
  const subsystems = collectSubsystems(container, checked, built);
  const config = container.get(AppConfig);
  const [uploadReader, ...more] = subsystems.members.map(({ subsystem }) => subsystem).filter(readsUploads);
  const unreadable = uploadReader === undefined ? checked.routeCollection.checkUploads() : [];
  throwIfAny([...subsystems.check(), ...config.check(), ...more.map(() => TWO_READERS), ...unreadable]);
  const clock = container.get(Clock);
  const events = prepareEvents(container, checked);
  prepareSubsystems(subsystems, clock, container);
  throwIfAny(events.check());
  const times = completeLifecycleOptions(plan.lifecycle, profile);
  const log = new ApplicationLog(container);
  plan.koa.share({ clock, proxies: checked.proxies, uploadReader, ...listSharedValues(subsystems) });
  return {
    config,
    clock,
    host: plan.host,
    port: plan.port,
    times,
    container,
    log,
    routes: checked.routeCollection.all,
    koa: plan.koa,
    ...createPipelineParts(plan, { checked, built, container, config, log, subsystems, events }),
    attachments: plan.attachments,
    hasErrorPages: hasErrorPages(plan),
    lifecycle,
    readiness: container.get(Readiness),
    subsystems,
    events,
    commands: readCommands(container),
    startup: new Startup(subsystems.members, clock, times.stopTimeoutMs),
    shutdownLast: listShutdownLast(container),
  };
}

function toContractRules({ stripResponses, errorMapping }: Plan) {
  return { stripResponses, mapsErrors: errorMapping?.hasMapper === true };
}

interface PipelineInput {
  readonly checked: CheckedPlan;
  readonly built: BuiltStages;
  readonly container: Container;
  readonly config: AppConfig;
  readonly log: ApplicationLog;
  readonly subsystems: SubsystemRegistry;
  readonly events: Events;
}

function createPipelineParts(
  plan: Plan,
  input: PipelineInput,
): Pick<ApplicationParts, "pipeline" | "booting" | "graph" | "csrfExempt" | "warnings" | "processWarnings"> {
  const { checked, built, container, config, log, subsystems, events } = input;
  const { stages, diagnostics } = built;
  throwIfAny(diagnostics);
  plan.apiDocs?.nameAfter(config.name);
  const { routeCollection } = checked;
  const callsRead = plan.calls.length;
  const site = { routes: routeCollection.all, origin: new URL(config.url).origin };
  const booting = new BootingLayer();
  const pipeline = fillPipeline(plan, { stages, container, routeCollection, site, booting });
  const graph = prepareGraph(plan, pipeline, input);
  if (pipeline.isEnabled("uagEndpoint"))
    for (const { layer } of stages) if (layer instanceof UagEndpointLayer) layer.setGraph(graph());
  const composer = createComposer(pipeline, {
    lastFallback: createDevFallback(plan),
    log,
    entersWorkScope: entersWorkScope(subsystems, events),
  });
  plan.koa.serveWith(pipeline.toFunctions(), composer);
  return {
    pipeline,
    booting,
    graph,
    csrfExempt: pipeline.isEnabled("csrf") ? routeCollection.csrfExempt() : [],
    warnings: () => [
      ...listWarnings({
        plan,
        pipeline,
        routeCollection,
        stages,
        lateCalls: plan.calls.slice(callsRead).map(({ call }) => call),
      }),
      ...listPageWarnings(plan),
    ],
    processWarnings: () => listProcessWarnings(routeCollection, listShutdownLast(container)),
  };
}

/** Only the container is read now, because it may be disposed of when the graph is asked for. */
function prepareGraph(
  { bindings, pageContracts }: Plan,
  pipeline: Pipeline,
  { checked, container, events, subsystems }: PipelineInput,
): () => ApplicationGraph {
  const injections = container.injections();
  const modules = readModules(checked.inspected.modules, bindings, container);
  let graph: ApplicationGraph | undefined;
  return () =>
    (graph ??= describeGraph({
      modules,
      routes: checked.routeCollection.graphRoutes(),
      stages: pipeline.describe(),
      events: events.listEvents(),
      injections,
      subsystems: subsystems.members.map(({ subsystem }) => subsystem),
      pageContracts,
    }));
}

/** The caches of rate limits, sessions and idempotency keys start with the other subsystems, also where no module provides them. */
function collectSubsystems(container: Container, { limits }: CheckedPlan, { stages }: BuiltStages): SubsystemRegistry {
  const instances = container.instances();
  const provided = instances.filter((each) => each instanceof Subsystem);
  const ofKeys = findIdempotencyProviders(instances).flatMap(({ subsystems }) => subsystems);
  const ofStages = stages.flatMap(({ layer }) => (hasSubsystems(layer) ? layer.subsystems : []));
  return new SubsystemRegistry([...new Set([...provided, ...limits.caches(), ...ofStages, ...ofKeys])]);
}

/** Created also where no class injects it, because a test may emit to the listeners of one module. */
function prepareEvents(container: Container, { inspected }: CheckedPlan): Events {
  const events = container.get(Events);
  events.declare(inspected.modules.flatMap((module) => module.events));
  const instances = container.instances();
  for (const instance of instances)
    if (typeof instance === "object" && instance !== null) markListed(instance.constructor);
  events.collect(instances);
  return events;
}

function readCommands(container: Container): readonly ApplicationCommand[] {
  const commands = listCommands(container.instances());
  throwIfAny(checkCommands(commands));
  return commands;
}

function entersWorkScope({ members }: SubsystemRegistry, events: Events): boolean {
  const listeners = events.listeners();
  return (
    members.some(({ subsystem }) => subsystem.followsRequests === true) ||
    listeners.some(({ time }) => time === "responded")
  );
}

function prepareSubsystems({ members }: SubsystemRegistry, clock: Clock, container: Container): void {
  const instances = (): readonly unknown[] => container.instances();
  for (const { name, subsystem } of members) {
    subsystem.prepare?.({ name, clock, metrics: container.get(Metrics), instances });
  }
}

/** A stage that works with a subsystem, such as the store of the sessions. */
interface HasSubsystems {
  readonly subsystems: readonly Subsystem[];
}

const TWO_READERS: Diagnostic = {
  code: "E_UPLOADS_TWICE",
  what: "more than one Uploads is provided",
  where: "providers",
  fix: "provide one, and give other limits to a call: ctx.uploads(schema, limits)",
};

function readsUploads(subsystem: Subsystem): subsystem is Subsystem & UploadReader {
  return "readUploads" in subsystem;
}

function listSharedValues({
  members,
}: SubsystemRegistry): Pick<SharedContextValues, "readLimit" | "problemTranslator"> {
  const problemTranslator = members.map(({ subsystem }) => subsystem).find(translatesProblems);
  return { readLimit: DEFAULT_READ_LIMIT, problemTranslator };
}

function translatesProblems(subsystem: Subsystem): subsystem is Subsystem & ProblemTranslator {
  return "translateProblem" in subsystem;
}

function hasSubsystems(layer: Layer): layer is Layer & HasSubsystems {
  return "subsystems" in layer;
}

function listShutdownLast(container: Container): readonly ShutdownLast[] {
  return container.instances().filter((each) => each instanceof ShutdownLast);
}

/** Its faults may follow from faults of the settings, so `build()` reports those first. */
function buildAllStages({ stages, stagesWithDependencies }: CheckedPlan, container: Container): BuiltStages {
  const late = buildStages(stagesWithDependencies, (token) => container.get(token));
  return { stages: [...stages, ...late.stages], diagnostics: late.diagnostics };
}

function throwIfAny(diagnostics: readonly Diagnostic[]): void {
  if (diagnostics.length > 0) throw new StartupError(diagnostics);
}

function createDevFallback({ devProxy }: Plan): Layer | undefined {
  return typeof devProxy === "string" ? undefined : new DevFallbackLayer(devProxy);
}
