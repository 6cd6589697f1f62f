/**
 * A class whose methods handle requests: of a table, of a resource, or of endpoints written above the methods, below a prefix. The
 * container of the application creates one instance. `ControllerPlan` reads the routes of the class.
 *
 * @example
 * @Controller(links)
 * export class LinksController {
 *   constructor(private readonly store: LinkStore) {}
 *   @links.show show({ params }: Context<"id">) { return this.store.find(params.id); }
 * }
 */
import { requireClassOnce, requireParentheses } from "../errors/bare-decorator.js";
import { refuseForeignCopy } from "../errors/copy.js";
import { markInjectable } from "../di/injectable.js";
import { recordDecorated } from "../di/unlisted.js";
import { getDecoratedMethods, mount, type AnyEndpoint, type HandlerMethod } from "../endpoints/endpoint.js";
import { findTableOfEntry, findTable, type Table } from "../endpoints/endpoint-table.js";
import { joinPaths } from "../endpoints/filled-path.js";
import { getClassChain, type AnyClass, type FitsTable } from "../endpoints/handler.js";

/** The argument of `@Controller`: a prefix, a table, or a value that is neither. */
export type ControllerSource = { readonly prefix: string } | { readonly table: Table } | { readonly unknown: string };

/**
 * A prefix without captures: `.url()` of an endpoint would not ask for them. For other prefixes it is a type whose text gives the reason.
 */
type Plain<P extends string> = P extends `${string}{${string}`
  ? "a prefix captures nothing: give routes(name, prefix, …), or write the capture into the endpoints"
  : P;

/** A table, of which exactly one decorated method handles each entry; or a resource, of which methods handle the actions of their names. */
export function Controller<T extends object>(
  table: T,
): <C extends AnyClass>(target: C & FitsTable<C, T>, context?: ClassDecoratorContext) => void;
/** Endpoints written above the methods, below a prefix without captures. Write captures into the endpoints, or use a table. */
export function Controller<const P extends string = "">(
  prefix?: Plain<P>,
): (target: AnyClass, context?: ClassDecoratorContext) => void;
export function Controller(
  source: string | object = "",
  ...none: readonly unknown[]
): (target: AnyClass, context?: ClassDecoratorContext) => void {
  requireParentheses('Controller("/prefix")', ["class"], source, none);
  refuseForeignCopy(source);
  return (target, ...rest: readonly unknown[]) => {
    requireClassOnce("Controller(…)", target, rest);
    markInjectable(target, rest);
    if (typeof source === "string") mountAll(target, source);
    sources.set(target, toControllerSource(source));
    recordDecorated(target, "@Controller");
  };
}

/** Returns the argument of the decorator of the class itself; `undefined` for a class without the decorator. @internal */
export function findControllerSource(controller: AnyClass): ControllerSource | undefined {
  return sources.get(controller);
}

/**
 * Returns the methods of a controller with the endpoints that they handle: by decorator, in a resource also by name. They come in the order
 * of the table, without a table in the order of the methods.
 */
export function getHandlerMethods(controller: AnyClass): readonly HandlerMethod[] {
  const source = findControllerSource(controller);
  if (source === undefined) return [];
  const methods = getDecoratedMethods(controller).filter(({ endpoint }) => belongs(endpoint, source));
  if (!("table" in source)) return methods;
  const { entries, isHandledByName } = source.table;
  const all = isHandledByName ? [...methods, ...findMethodsByName(controller, source.table)] : methods;
  return [...entries.values()].flatMap((entry) => all.filter(({ endpoint }) => endpoint === entry));
}

/** Whether a controller with this source may handle the endpoint. */
export function belongs(endpoint: AnyEndpoint, source: ControllerSource): boolean {
  const table = findTableOfEntry(endpoint);
  if ("table" in source) return table === source.table;
  return "prefix" in source && table === undefined;
}

const sources = new WeakMap<AnyClass, ControllerSource>();

function toControllerSource(source: string | object): ControllerSource {
  if (typeof source === "string") return { prefix: source };
  const table = findTable(source);
  return table === undefined ? { unknown: `{ ${Object.keys(Object(source)).join(", ")} }` } : { table };
}

/** Gives the endpoints the URLs of their routes. */
function mountAll(target: AnyClass, prefix: string): void {
  for (const { endpoint } of getDecoratedMethods(target)) {
    if (findTableOfEntry(endpoint) === undefined) mount(endpoint, joinPaths(prefix, endpoint.path));
  }
}

/** Returns the methods that have the name of an action and no decorator. */
function findMethodsByName(controller: AnyClass, { entries }: Table): readonly HandlerMethod[] {
  const decorated = new Set(getDecoratedMethods(controller).map(({ key }) => key));
  return [...entries]
    .filter(([key]) => !decorated.has(key) && hasMethod(controller, key))
    .map(([key, endpoint]) => ({ endpoint, key }));
}

function hasMethod(controller: AnyClass, key: string): boolean {
  const declaringClass = getClassChain(controller).findLast(({ prototype }) => Object.hasOwn(prototype, key));
  const descriptor = declaringClass && Object.getOwnPropertyDescriptor(declaringClass.prototype, key);
  return typeof descriptor?.value === "function";
}
