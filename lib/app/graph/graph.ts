/**
 * The application as data: modules, routes with their shapes, and stages. It is equal for equal applications: it has no time and no absolute
 * path, and its keys are sorted and its lists have a fixed order. Tools and the graph endpoint read it.
 */
import { Policy } from "../../contracts/policy.js";
import type { Injection } from "../../di/container.js";
import type { ModuleDescription } from "../../di/inspection.js";
import { type InjectionToken, describeToken } from "../../di/token.js";
import type { KnownEvent } from "../../events/events.js";
import { getListenerMethods } from "../../events/on.js";
import type { Subsystem } from "../../lifecycle/subsystem.js";
import type { StageRow } from "../../pipeline/pipeline.js";
import { getMiddlewareName } from "../../http/middleware.js";
import { pickRouteOptions } from "../../endpoints/route-options.js";
import { formatGuard } from "../../endpoints/guard.js";
import { isClass } from "../../runtime/class.js";
import { isObject, sortMembers } from "../../openapi/document.js";
import type { Route, RouteDescriptor } from "../../routing/route.js";
import { describeShapes, type GraphShapes } from "./graph-shapes.js";

export interface GraphModule {
  readonly name: string;
  readonly imports: readonly string[];
  readonly exports: readonly string[];
  readonly controllers: readonly string[];
  readonly providers: readonly string[];
  readonly middleware: readonly string[];
  /** The policies among the providers. */
  readonly policies: readonly string[];
  /** The pages of its routes, sorted by name. */
  readonly pages: readonly string[];
  /** `Announcer.announce on link.created`, for each listener among the providers. */
  readonly listeners: readonly string[];
  /** `WelcomeMails.send on mail.welcome`, for each method of a provider that handles a job. */
  readonly jobs: readonly string[];
  /** `Sweeper.sweep on links.sweep`, for each method of a provider that a schedule calls. */
  readonly schedules: readonly string[];
}

export interface GraphEvent {
  readonly name: string;
  /** The modules that list it among their events. */
  readonly modules: readonly string[];
  /** `Announcer.announce`, in the order in which they run; empty for an event without a listener. */
  readonly listeners: readonly string[];
}

/** With the shapes of its contract, where it has one. */
export interface GraphRoute extends Omit<RouteDescriptor, "name" | "contract">, GraphShapes {
  /** The name of the module; `""` for a route of the builder. */
  readonly module: string;
  /** The same text as `handler`: `LinksController.show`. */
  readonly action: string;
  readonly name: string | null;
  readonly params: readonly string[];
  /** The guards in the order in which they run, with their arguments: `role("admin")`. */
  readonly guards: readonly string[];
  /** The policies that the class of the handler injects. */
  readonly policies: readonly string[];
  readonly middleware: readonly string[];
}

export interface ApplicationGraph {
  readonly format: "framework.uag.v1";
  readonly schema_version: 2;
  readonly modules: readonly GraphModule[];
  readonly routes: readonly GraphRoute[];
  /** The events that a module lists or a provider listens to, sorted by name. */
  readonly events: readonly GraphEvent[];
  /** What the constructors of the modules got, in the order of construction. */
  readonly injections: readonly Injection[];
  readonly pages: readonly string[];
  readonly pipeline: readonly { readonly number: number; readonly slot: string; readonly on: boolean }[];
}

/** A module, and its providers as objects. */
export interface GraphedModule {
  readonly description: ModuleDescription;
  readonly instances: readonly unknown[];
}

export interface GraphInput {
  readonly modules: readonly GraphedModule[];
  readonly routes: readonly DescribedRoute[];
  readonly stages: readonly StageRow[];
  readonly events: readonly KnownEvent[];
  readonly injections: readonly Injection[];
  readonly subsystems: readonly Subsystem[];
}

type DescribedRoute = Omit<GraphRoute, "policies">;

export function describeGraph({ routes, stages, events, injections, ...input }: GraphInput): ApplicationGraph {
  const descriptions = input.modules.map(({ description }) => description);
  const modules = input.modules.map((each) => describeModule(each, input.subsystems, routes));
  const policies = new Set(modules.flatMap((module) => module.policies));
  const graph: ApplicationGraph = {
    events: events.map((each) => describeEvent(each, descriptions)).toSorted((a, b) => compareText(a.name, b.name)),
    format: "framework.uag.v1",
    injections,
    modules,
    pages: listPages(routes),
    pipeline: stages.map(({ number, slot, on }) => ({ number, on, slot })),
    routes: routes
      .map((route) => ({ ...route, policies: findTokens(route, injections).filter((each) => policies.has(each)) }))
      .toSorted(compareRoutes),
    schema_version: 2,
  };
  // The graph has values of JSON only, and its copy has the same type.
  return JSON.parse(JSON.stringify(graph, sortKeys)) as ApplicationGraph;
}

function listPages(routes: readonly DescribedRoute[]): readonly string[] {
  return [...new Set(routes.flatMap(({ pages }) => pages))].toSorted();
}

/** The values that the class of a handler injects. */
function findTokens({ module, handler }: DescribedRoute, injections: readonly Injection[]): readonly string[] {
  const found = injections.find((each) => each.module === module && handler.startsWith(`${each.provider}.`));
  return found?.tokens ?? [];
}

function sortKeys(_key: string, value: unknown): unknown {
  return isObject(value) ? sortMembers(Object.entries(value)) : value;
}

export function describeRoute(module: string, route: Route): DescribedRoute {
  const { contract, handler, method, name = null, pages, path } = route.descriptor;
  return {
    ...pickRouteOptions(route.descriptor),
    ...(contract !== undefined && describeShapes(contract)),
    action: handler,
    guards: (contract?.guards ?? []).map(formatGuard),
    handler,
    method,
    middleware: route.around.map(getMiddlewareName),
    module,
    name,
    pages,
    params: route.path.names,
    path,
  };
}

function describeEvent({ name, listeners }: KnownEvent, modules: readonly ModuleDescription[]): GraphEvent {
  const listing = modules.filter(({ events }) => events.some((event) => event.name === name));
  return { listeners: listeners.map((listener) => listener.name), modules: listing.map((module) => module.name), name };
}

function describeModule(
  { description, instances }: GraphedModule,
  subsystems: readonly Subsystem[],
  routes: readonly DescribedRoute[],
): GraphModule {
  const { name, imports, exports, controllers, providers, middleware } = description;
  const objects = instances.filter((each) => typeof each === "object" && each !== null);
  const work = objects.flatMap((each) => subsystems.flatMap((subsystem) => subsystem.describeProvider?.(each) ?? []));
  return {
    controllers: controllers.map(describeToken),
    exports: exports.map(describeToken),
    imports: imports.map(describeToken),
    jobs: [...new Set(work.flatMap(({ jobs }) => jobs))],
    listeners: objects.flatMap(describeListeners),
    middleware: middleware.map(describeToken),
    name,
    pages: listPages(routes.filter(({ module }) => module === name)),
    policies: providers.filter((token, at) => isPolicy(token, instances[at])).map(describeToken),
    providers: providers.map(describeToken),
    schedules: [...new Set(work.flatMap(({ schedules }) => schedules))],
  };
}

/** A test may bind an object that is no policy in the place of one. */
function isPolicy(token: InjectionToken, instance: unknown): boolean {
  return instance instanceof Policy || (isClass(token) && token.prototype instanceof Policy);
}

function describeListeners(instance: object): readonly string[] {
  const { name } = instance.constructor;
  return getListenerMethods(instance).map(({ event, key }) => `${name}.${String(key)} on ${event.name}`);
}

function compareRoutes(left: GraphRoute, right: GraphRoute): number {
  return compareText(formatSortKey(left), formatSortKey(right));
}

function formatSortKey({ path, method, name }: GraphRoute): string {
  return `${path}\u0000${method}\u0000${name ?? ""}`;
}

function compareText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
