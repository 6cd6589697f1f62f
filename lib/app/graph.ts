/**
 * The application as data: modules, routes and stages. The same for the same application: no time, no absolute path, keys and lists in
 * a fixed order. Tools read it; so does the graph endpoint.
 */
import type { ModuleDescription } from "../di/inspection.js";
import { nameOf } from "../di/token.js";
import type { StageRow } from "../pipeline/pipeline.js";
import type { RouteDescriptor } from "../routing/handler.js";

export interface GraphModule {
  readonly name: string;
  readonly imports: readonly string[];
  readonly exports: readonly string[];
  readonly controllers: readonly string[];
  readonly providers: readonly string[];
  readonly middleware: readonly string[];
}

export interface GraphRoute {
  readonly module: string;
  readonly method: string;
  readonly path: string;
  readonly name: string | null;
  readonly handler: string;
  readonly params: readonly string[];
  readonly pages: readonly string[];
  readonly middleware: readonly string[];
}

export interface ApplicationGraph {
  readonly format: "framework.uag.v1";
  readonly schema_version: 1;
  readonly modules: readonly GraphModule[];
  readonly routes: readonly GraphRoute[];
  readonly pages: readonly string[];
  readonly pipeline: readonly { readonly number: number; readonly slot: string; readonly on: boolean }[];
}

/** A route with where it comes from. */
export interface RouteOrigin {
  readonly module: string;
  readonly descriptor: RouteDescriptor;
  readonly params: readonly string[];
  readonly middleware: readonly string[];
}

export function describeGraph(
  modules: readonly ModuleDescription[],
  routes: readonly RouteOrigin[],
  stages: readonly StageRow[],
): ApplicationGraph {
  const described = routes.map(describeRoute).toSorted(byPathMethodName);
  return {
    format: "framework.uag.v1",
    schema_version: 1,
    modules: modules.map(describeModule),
    routes: described,
    pages: [...new Set(described.flatMap(({ pages }) => pages))].toSorted(),
    pipeline: stages.map(({ number, slot, on }) => ({ number, slot, on })),
  };
}

function describeModule({
  name,
  imports,
  exports,
  controllers,
  providers,
  middleware,
}: ModuleDescription): GraphModule {
  return {
    name,
    imports: imports.map(nameOf),
    exports: exports.map(nameOf),
    controllers: controllers.map(nameOf),
    providers: providers.map(nameOf),
    middleware: middleware.map(nameOf),
  };
}

function describeRoute({ module, descriptor, params, middleware }: RouteOrigin): GraphRoute {
  const { method, path, name, handler, pages } = descriptor;
  return { module, method, path, name: name ?? null, handler, params, pages, middleware };
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
