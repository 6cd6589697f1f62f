/**
 * The application as data: modules, routes with their shapes, and stages. It is equal for equal applications: it has no time and no absolute
 * path, and its keys are sorted and its lists have a fixed order. Tools and the graph endpoint read it.
 */
import type { Injection } from "../../di/container.js";
import type { ModuleDescription } from "../../di/inspection.js";
import { type InjectionToken, describeToken } from "../../di/token.js";
import type { KnownEvent } from "../../events/events.js";
import { getListenerMethods } from "../../events/on.js";
import type { StageRow } from "../../pipeline/pipeline.js";
import { getMiddlewareName } from "../../http/middleware.js";
import { pickRouteOptions } from "../../endpoints/route-options.js";
import { formatGuard } from "../../endpoints/guard.js";
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
  /** `Announcer.announce on link.created`, for each listener among the providers. */
  readonly listeners: readonly string[];
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

export interface GraphInput {
  readonly modules: readonly GraphModule[];
  readonly routes: readonly GraphRoute[];
  readonly stages: readonly StageRow[];
  readonly events: readonly GraphEvent[];
  readonly injections: readonly Injection[];
}

export function describeGraph({ modules, routes, stages, events, injections }: GraphInput): ApplicationGraph {
  const graph: ApplicationGraph = {
    events: events.toSorted((a, b) => compareText(a.name, b.name)),
    format: "framework.uag.v1",
    injections,
    modules,
    pages: [...new Set(routes.flatMap(({ pages }) => pages))].toSorted(),
    pipeline: stages.map(({ number, slot, on }) => ({ number, on, slot })),
    routes: routes.toSorted(compareRoutes),
    schema_version: 2,
  };
  // The graph has values of JSON only, and its copy has the same type.
  return JSON.parse(JSON.stringify(graph, sortKeys)) as ApplicationGraph;
}

function sortKeys(_key: string, value: unknown): unknown {
  return isObject(value) ? sortMembers(Object.entries(value)) : value;
}

export function describeRoute(module: string, route: Route): GraphRoute {
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

export function describeEvent({ name, listeners }: KnownEvent, modules: readonly ModuleDescription[]): GraphEvent {
  const listing = modules.filter(({ events }) => events.some((event) => event.name === name));
  return { listeners: listeners.map((listener) => listener.name), modules: listing.map((module) => module.name), name };
}

export function describeModule(
  { name, imports, exports, controllers, providers, middleware }: ModuleDescription,
  getInstance: (provided: InjectionToken) => unknown,
): GraphModule {
  return {
    controllers: controllers.map(describeToken),
    exports: exports.map(describeToken),
    imports: imports.map(describeToken),
    listeners: providers.flatMap((provided) => describeListeners(getInstance(provided))),
    middleware: middleware.map(describeToken),
    name,
    providers: providers.map(describeToken),
  };
}

function describeListeners(instance: unknown): readonly string[] {
  if (typeof instance !== "object" || instance === null) return [];
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
