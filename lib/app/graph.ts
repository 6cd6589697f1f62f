/**
 * The application as data: modules, routes and stages. It is equal for equal applications: it has no time and no absolute path, and
 * its keys and lists have a fixed order. Tools and the graph endpoint read it.
 */
import type { ModuleDescription } from "../di/inspection.js";
import { type Class, type InjectionToken, nameOf } from "../di/token.js";
import type { KnownEvent } from "../events/events.js";
import { listenerMethods } from "../events/on.js";
import type { StageRow } from "../pipeline/pipeline.js";
import { middlewareName } from "../http/middleware.js";
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

export interface GraphRoute extends Omit<RouteDescriptor, "name"> {
  /** The name of the module; `""` for a route of the builder. */
  readonly module: string;
  readonly name: string | null;
  readonly params: readonly string[];
  readonly middleware: readonly string[];
}

export interface ApplicationGraph {
  readonly format: "framework.uag.v1";
  readonly schema_version: 1;
  readonly modules: readonly GraphModule[];
  readonly routes: readonly GraphRoute[];
  /** Those that a module lists or a provider listens to, by name. */
  readonly events: readonly GraphEvent[];
  readonly pages: readonly string[];
  readonly pipeline: readonly { readonly number: number; readonly slot: string; readonly on: boolean }[];
}

export interface GraphInput {
  readonly modules: readonly ModuleDescription[];
  readonly routes: readonly GraphRoute[];
  readonly stages: readonly StageRow[];
  readonly events: readonly KnownEvent[];
  readonly instanceOf: (module: Class, provided: InjectionToken) => unknown;
}

export function describeGraph({ modules, routes, stages, events, instanceOf }: GraphInput): ApplicationGraph {
  const sorted = routes.toSorted(byPathMethodName);
  return {
    format: "framework.uag.v1",
    schema_version: 1,
    modules: modules.map((each) => describeModule(each, (provided) => instanceOf(each.module, provided))),
    routes: sorted,
    events: events.map((each) => describeEvent(each, modules)).toSorted((a, b) => compareText(a.name, b.name)),
    pages: [...new Set(sorted.flatMap(({ pages }) => pages))].toSorted(),
    pipeline: stages.map(({ number, slot, on }) => ({ number, slot, on })),
  };
}

export function describeRoute(module: string, route: Route): GraphRoute {
  const { method, path, name, handler, pages } = route.descriptor;
  const middleware = route.around.map(middlewareName);
  return { module, method, path, name: name ?? null, handler, params: route.path.names, pages, middleware };
}

function describeEvent({ name, listeners }: KnownEvent, modules: readonly ModuleDescription[]): GraphEvent {
  const listing = modules.filter(({ events }) => events.some((event) => event.name === name));
  return { name, modules: listing.map((module) => module.name), listeners: listeners.map((listener) => listener.name) };
}

function describeModule(
  { name, imports, exports, controllers, providers, middleware }: ModuleDescription,
  instanceOf: (provided: InjectionToken) => unknown,
): GraphModule {
  return {
    name,
    imports: imports.map(nameOf),
    exports: exports.map(nameOf),
    controllers: controllers.map(nameOf),
    providers: providers.map(nameOf),
    middleware: middleware.map(nameOf),
    listeners: providers.flatMap((provided) => listenerNames(instanceOf(provided))),
  };
}

function listenerNames(instance: unknown): readonly string[] {
  if (typeof instance !== "object" || instance === null) return [];
  const { name } = instance.constructor;
  return listenerMethods(instance).map(({ event, key }) => `${name}.${String(key)} on ${event.name}`);
}

function byPathMethodName(left: GraphRoute, right: GraphRoute): number {
  return compareText(keyOf(left), keyOf(right));
}

function keyOf({ path, method, name }: GraphRoute): string {
  return `${path}\u0000${method}\u0000${name ?? ""}`;
}

function compareText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
