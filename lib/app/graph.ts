/**
 * The application as data: modules, routes and stages. It is equal for equal applications: it has no time and no absolute path, and
 * its keys are sorted and its lists have a fixed order. Tools and the graph endpoint read it.
 */
import type { Injection } from "../di/container.js";
import type { ModuleDescription } from "../di/inspection.js";
import { type InjectionToken, describeToken } from "../di/token.js";
import type { Class } from "../runtime/class.js";
import type { KnownEvent } from "../events/events.js";
import { getListenerMethods } from "../events/on.js";
import type { StageRow } from "../pipeline/pipeline.js";
import { getMiddlewareName } from "../http/middleware.js";
import { pickRouteOptions } from "../endpoints/route-options.js";
import { formatGuard } from "../endpoints/guard.js";
import type { Route, RouteDescriptor } from "../routing/route.js";

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

export interface GraphRoute extends Omit<RouteDescriptor, "name" | "contract"> {
  /** The name of the module; `""` for a route of the builder. */
  readonly module: string;
  readonly name: string | null;
  readonly params: readonly string[];
  /** The guards in the order in which they run, with their arguments: `role("admin")`. */
  readonly guards: readonly string[];
  readonly middleware: readonly string[];
}

export interface ApplicationGraph {
  readonly format: "framework.uag.v1";
  readonly schema_version: 1;
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
  readonly modules: readonly ModuleDescription[];
  readonly routes: readonly GraphRoute[];
  readonly stages: readonly StageRow[];
  readonly events: readonly KnownEvent[];
  readonly injections: readonly Injection[];
  readonly getInstance: (module: Class, provided: InjectionToken) => unknown;
}

export function describeGraph(input: GraphInput): ApplicationGraph {
  const { modules, stages, events, injections, getInstance } = input;
  const sorted = input.routes.toSorted(compareRoutes);
  return {
    events: events.map((each) => describeEvent(each, modules)).toSorted((a, b) => compareText(a.name, b.name)),
    format: "framework.uag.v1",
    injections,
    modules: modules.map((each) => describeModule(each, (provided) => getInstance(each.module, provided))),
    pages: [...new Set(sorted.flatMap(({ pages }) => pages))].toSorted(),
    pipeline: stages.map(({ number, slot, on }) => ({ number, on, slot })),
    routes: sorted,
    schema_version: 1,
  };
}

export function describeRoute(module: string, route: Route): GraphRoute {
  const { contract, handler, method, name = null, pages, path } = route.descriptor;
  const guards = (contract?.guards ?? []).map(formatGuard);
  const middleware = route.around.map(getMiddlewareName);
  const params = route.path.names;
  const { sunset, ...options } = pickRouteOptions(route.descriptor);
  return {
    ...options,
    guards,
    handler,
    method,
    middleware,
    module,
    name,
    pages,
    params,
    path,
    ...(sunset !== undefined && { sunset }),
  };
}

function describeEvent({ name, listeners }: KnownEvent, modules: readonly ModuleDescription[]): GraphEvent {
  const listing = modules.filter(({ events }) => events.some((event) => event.name === name));
  return { listeners: listeners.map((listener) => listener.name), modules: listing.map((module) => module.name), name };
}

function describeModule(
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
