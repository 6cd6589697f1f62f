/** The route of a request, with its guards and its middleware in the order in which they run, each with its line in the program. */
import { formatGuard } from "../../endpoints/guard.js";
import { pickRouteOptions, type RouteOptions } from "../../endpoints/route-options.js";
import { getMiddlewareName } from "../../http/middleware.js";
import { getWrittenMethod } from "../../routing/controller-routes.js";
import { getWrittenMiddleware } from "../../routing/middleware.js";
import type { TableRow } from "../../routing/route-table.js";
import type { RouteDescriptor } from "../../routing/route.js";
import { findFunctionPlaces } from "../application/function-places.js";
import type { LoadedApplication } from "../application/load-application.js";
import { toSourcePlace } from "../application/source-place.js";

export interface ExplainedPart {
  readonly name: string;
  /** `src/links.ts:7:3`; `null` for code of the framework. */
  readonly at: string | null;
}

export interface ExplainedRoute extends Pick<RouteDescriptor, "method" | "path" | "name" | "handler"> {
  /** The place of the handler. */
  readonly at: string | null;
  /** `""` for a route of the builder. */
  readonly module: string;
  readonly options: RouteOptions;
  /** The name of a guard, and of the method that is its code: `signed-in by Accounts.check`. */
  readonly guards: readonly ExplainedPart[];
  readonly middleware: readonly ExplainedPart[];
  readonly policies: readonly string[];
}

export function explainRoute({ application, file }: LoadedApplication, row: TableRow): ExplainedRoute {
  const { descriptor, around, handler: code } = row.route;
  const { method, path, name, handler } = descriptor;
  const graphed = application.graph().routes.find((each) => each.method === method && each.path === path);
  const { module = "", policies = [] } = graphed ?? {};
  const guards = (row.contract?.guards ?? []).map((guard): Named => {
    const { instance, key, place } = guard.provider;
    return { name: `${formatGuard(guard)} by ${place}`, code: Reflect.get(instance, key) };
  });
  const middleware = around.map((each): Named => ({ name: getMiddlewareName(each), code: getWrittenMiddleware(each) }));
  const parts = [{ name: handler, code: getWrittenMethod(code) }, ...guards, ...middleware];
  const places = findFunctionPlaces(parts.map((part) => part.code));
  const [placedHandler, ...placed] = parts.map((part, index): ExplainedPart => {
    const place = places[index];
    return { name: part.name, at: place === undefined ? null : toSourcePlace(place, file.root) };
  });
  return {
    method,
    path,
    name,
    handler,
    at: placedHandler?.at ?? null,
    module,
    policies,
    options: pickRouteOptions(descriptor),
    guards: placed.slice(0, guards.length),
    middleware: placed.slice(guards.length),
  };
}

interface Named {
  readonly name: string;
  /** The function that the program wrote. */
  readonly code: unknown;
}
