/**
 * A class whose methods answer requests: of a table, of a resource, or of endpoints written in place below a prefix.
 * One instance an application, built by its container. The tie to its routes is read by `ControllerPlan`.
 *
 * @example
 * @Controller(links)
 * export class LinksController {
 *   constructor(private readonly store: LinkStore) {}
 *   @links.show show({ params }: Context<"id">) { return this.store.find(params.id); }
 * }
 */
import { Injectable } from "../di/injectable.js";
import { type AnyClass, usesOf, type FitsTable, type AnyEndpoint, classChain, type EndpointUse } from "./handler.js";
import { mount } from "./endpoint.js";
import { tableFacts, tableOf, type TableFacts } from "./endpoint-table.js";

/** What a controller was given: a prefix, a table, or something that is neither. */
export type ControllerSource =
  { readonly prefix: string } | { readonly table: TableFacts } | { readonly unknown: string };

/** A prefix without captures, which the URLs of endpoints written in place would not ask for; else a text no path has, which says why. */
type Plain<P extends string> = P extends `${string}{${string}`
  ? "a prefix captures nothing: give routes(name, prefix, …), or write the capture into the endpoints"
  : P;

/** A table, every entry handled by exactly one decorated method; or a resource, whose actions are handled by methods of their names. */
export function Controller<T extends object>(table: T): <C extends AnyClass>(target: C & FitsTable<C, T>) => void;
/** Endpoints written in place, below a prefix without captures: those belong into the endpoints, or into the prefix of a table. */
export function Controller<const P extends string = "">(prefix?: Plain<P>): (target: AnyClass) => void;
export function Controller(source: string | object = ""): (target: AnyClass) => void {
  return (target) => {
    Injectable()(target);
    if (typeof source === "string") mountAll(target, source);
    sources.set(target, sourceOf(source));
  };
}

/** What a class was given by its own decorator; `undefined` for a class without one. @internal */
export function controllerSource(controller: AnyClass): ControllerSource | undefined {
  return sources.get(controller);
}

const sources = new WeakMap<AnyClass, ControllerSource>();

function sourceOf(source: string | object): ControllerSource {
  if (typeof source === "string") return { prefix: source };
  const table = tableFacts(source);
  return table === undefined ? { unknown: `{ ${Object.keys(Object(source)).join(", ")} }` } : { table };
}

/** So that the URLs of endpoints written in place are those of their routes. */
function mountAll(target: AnyClass, prefix: string): void {
  for (const { endpoint } of usesOf(target)) {
    if (tableOf(endpoint) === undefined) mount(endpoint, prefix);
  }
}

// Which method of a controller handles which endpoint: by decorator, in a resource also by name. In the order of the table.

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
