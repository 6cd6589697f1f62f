/**
 * The application as data: modules, routes with their shapes, and stages. It is equal for equal applications: it has no time and no absolute
 * path, and its keys are sorted and its lists have a fixed order. Tools and the graph endpoint read it.
 */
import type { Injection } from "../../di/container.js";
import type { ModuleDescription } from "../../di/inspection.js";
import type { KnownEvent } from "../../events/events.js";
import type { Subsystem } from "../../lifecycle/subsystem.js";
import type { StageRow } from "../../pipeline/pipeline.js";
import { getMiddlewareName } from "../../http/middleware.js";
import { pickRouteOptions } from "../../endpoints/route-options.js";
import { formatGuard } from "../../endpoints/guard.js";
import { isObject, sortMembers } from "../../openapi/document.js";
import type { Route, RouteDescriptor } from "../../routing/route.js";
import type { PageContractRegistry } from "../../stages/pages/contract-registry.js";
import { describeModule, type GraphedModule, type GraphModule } from "./graph-modules.js";
import { describePages, type GraphPage } from "./graph-pages.js";
import { describeShapes, listContractPages, type GraphShapes } from "./graph-shapes.js";

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
  /** The pages of the routes and those with a registered contract, sorted by name. */
  readonly pages: readonly GraphPage[];
  readonly pipeline: readonly { readonly number: number; readonly slot: string; readonly on: boolean }[];
}

export interface GraphInput {
  readonly modules: readonly GraphedModule[];
  readonly routes: readonly DescribedRoute[];
  readonly stages: readonly StageRow[];
  readonly events: readonly KnownEvent[];
  readonly injections: readonly Injection[];
  readonly subsystems: readonly Subsystem[];
  readonly pageContracts: PageContractRegistry | undefined;
}

type DescribedRoute = Omit<GraphRoute, "policies">;

export function describeGraph({ routes, stages, events, injections, ...input }: GraphInput): ApplicationGraph {
  const descriptions = input.modules.map(({ description }) => description);
  const modules = input.modules.map((each) => {
    const ofModule = routes.filter(({ module }) => module === each.description.name);
    return { ...describeModule(each, input.subsystems), pages: listPages(ofModule) };
  });
  const policies = new Set(modules.flatMap((module) => module.policies));
  const graph: ApplicationGraph = {
    events: events.map((each) => describeEvent(each, descriptions)).toSorted((a, b) => compareText(a.name, b.name)),
    format: "framework.uag.v1",
    injections,
    modules,
    pages: describePages(listPages(routes), input.pageContracts),
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
    pages: [...new Set([...pages, ...(contract === undefined ? [] : listContractPages(contract))])],
    params: route.path.names,
    path,
  };
}

function describeEvent(
  { name, listeners }: KnownEvent,
  modules: readonly Pick<ModuleDescription, "events" | "name">[],
): GraphEvent {
  const listing = modules.filter(({ events }) => events.some((event) => event.name === name));
  return { listeners: listeners.map((listener) => listener.name), modules: listing.map((module) => module.name), name };
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
