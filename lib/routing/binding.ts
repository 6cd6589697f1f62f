/** Which method of a controller handles which endpoint: by decorator, in a resource also by name. In the order of the table. */
import type { AnyClass, AnyEndpoint } from "./any-endpoint.js";
import { classChain } from "./class-chain.js";
import { controllerSource, type ControllerSource } from "./controller.js";
import { tableOf, type TableFacts } from "./endpoint-table.js";
import { usesOf, type EndpointUse } from "./endpoint-use.js";

/** One method handling one endpoint. */
export type Binding = EndpointUse;

export function bindings(controller: AnyClass): readonly Binding[] {
  const source = controllerSource(controller);
  if (source === undefined) return [];
  const uses = usesOf(controller).filter(({ endpoint }) => belongs(endpoint, source));
  if (!("table" in source)) return uses;
  const { entries, bindsByName } = source.table;
  const all = bindsByName ? [...uses, ...byName(controller, source.table)] : uses;
  return [...entries.values()].flatMap((entry) => all.filter(({ endpoint }) => endpoint === entry));
}

/** Whether an endpoint may be handled in a controller of this source. */
export function belongs(endpoint: AnyEndpoint, source: ControllerSource): boolean {
  const owner = tableOf(endpoint);
  if ("table" in source) return owner === source.table;
  return "prefix" in source && owner === undefined;
}

/** Methods without a decorator of their own that are called like an action. */
function byName(controller: AnyClass, { entries }: TableFacts): readonly Binding[] {
  const decorated = new Set(usesOf(controller).map(({ key }) => key));
  return [...entries]
    .filter(([key]) => !decorated.has(key) && hasMethod(controller, key))
    .map(([key, endpoint]) => ({ endpoint, key }));
}

function hasMethod(controller: AnyClass, key: string): boolean {
  const owner = classChain(controller).findLast(({ prototype }) => Object.hasOwn(prototype, key));
  const descriptor = owner && Object.getOwnPropertyDescriptor(owner.prototype, key);
  return typeof descriptor?.value === "function";
}
