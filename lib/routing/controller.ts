/**
 * A class whose methods handle requests: of tables, of resources, or of endpoints written above the methods, below a prefix. The
 * container of the application creates one instance. `ControllerPlan` reads the routes of the class.
 *
 * @example
 * @Controller(links)
 * export class LinksController {
 *   constructor(private readonly store: LinkStore) {}
 *   @links.show show({ params }: Context<"id">) { return this.store.find(params.id); }
 * }
 */
import { valueText } from "../errors/value-text.js";
import { requireClassOnce, requireParentheses } from "../errors/bare-decorator.js";
import { refuseForeignCopy } from "../errors/copy.js";
import { markInjectable } from "../di/injectable.js";
import { recordDecorated } from "../di/unlisted.js";
import { getDecoratedMethods, mount, type AnyEndpoint, type HandlerMethod } from "../endpoints/endpoint.js";
import { findTableOfEntry, findTable, type Table } from "../endpoints/endpoint-table.js";
import { listSourceEntries } from "../endpoints/prefix.js";
import { joinPaths } from "../endpoints/filled-path.js";
import { getClassChain, type AnyClass, type FitsTable, type FitsTables } from "../endpoints/handler.js";

/** The argument of `@Controller`: a prefix, a table, or a value that is neither. */
export type ControllerSource =
  { readonly prefix: string } | { readonly tables: readonly Table[] } | { readonly unknown: string };

/**
 * A prefix without captures: `.url()` of an endpoint would not ask for them. For other prefixes it is a type whose text gives the reason.
 */
type Plain<P extends string> = P extends `${string}{${string}`
  ? "a prefix captures nothing: give routes(name, prefix, …), or write the capture into the endpoints"
  : P;

/**
 * A table, of which exactly one decorated method handles each entry; or a resource, of which methods handle the actions of their names.
 * Of several tables each is handled whole. A method that is decorated with an entry also handles that entry in the tables that `prefix` has
 * made, unless another method is decorated with the entry of such a table itself.
 */
export function Controller<T extends object, const Others extends readonly object[]>(
  table: T,
  ...others: Others
): <C extends AnyClass>(target: C & FitsTable<C, T> & FitsTables<C, Others>, context?: ClassDecoratorContext) => void;
/** Endpoints written above the methods, below a prefix without captures. Write captures into the endpoints, or use a table. */
export function Controller<const P extends string = "">(
  prefix?: Plain<P>,
): (target: AnyClass, context?: ClassDecoratorContext) => void;
export function Controller(
  source: string | object = "",
  ...others: readonly unknown[]
): (target: AnyClass, context?: ClassDecoratorContext) => void {
  // A table and a text look like a class and the name of its field.
  if (findTable(Object(source)) === undefined) requireParentheses('Controller("/prefix")', ["class"], source, others);
  for (const each of [source, ...others]) refuseForeignCopy(each);
  return (target, ...rest: readonly unknown[]) => {
    requireClassOnce("Controller(…)", target, rest);
    markInjectable(target, rest);
    const own = toControllerSource(source, others);
    mountAll(target, own);
    sources.set(target, own);
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
  if (!("tables" in source)) return methods;
  return source.tables.flatMap((table) => {
    const named = table.isHandledByName ? findMethodsByName(controller, table) : [];
    return [...table.entries.values()].flatMap((entry) => [
      ...findMethodsOfEntry(methods, entry),
      ...named.filter(({ endpoint }) => endpoint === entry),
    ]);
  });
}

/** The methods that are decorated with the entry itself; without one, those of the entry that it is a copy of. */
function findMethodsOfEntry(methods: readonly HandlerMethod[], entry: AnyEndpoint): readonly HandlerMethod[] {
  for (const source of listSourceEntries(entry)) {
    const found = methods.filter(({ endpoint }) => endpoint === source);
    if (found.length > 0) return found.map(({ key }) => ({ key, endpoint: entry }));
  }
  return [];
}

/** Whether a controller with this source may handle the endpoint. */
export function belongs(endpoint: AnyEndpoint, source: ControllerSource): boolean {
  if ("tables" in source)
    return source.tables.some(({ entries }) =>
      [...entries.values()].some((entry) => listSourceEntries(entry).includes(endpoint)),
    );
  return "prefix" in source && findTableOfEntry(endpoint) === undefined;
}

const sources = new WeakMap<AnyClass, ControllerSource>();

function toControllerSource(source: string | object, others: readonly unknown[]): ControllerSource {
  if (typeof source === "string" && others.length === 0) return { prefix: source };
  const given = [source, ...others];
  const found = given.map((each) => findTable(Object(each)));
  const tables = found.filter((each) => each !== undefined);
  return tables.length === given.length ? { tables } : { unknown: describeGiven(given[found.indexOf(undefined)]) };
}

function describeGiven(given: unknown): string {
  return typeof given === "object" ? `{ ${Object.keys(Object(given)).join(", ")} }` : valueText(given);
}

/** Gives the endpoints the URLs of their routes. Those of a table have one too: a group may have the same endpoint below its prefix. */
function mountAll(target: AnyClass, source: ControllerSource): void {
  if ("tables" in source)
    for (const endpoint of source.tables.flatMap(({ entries }) => [...entries.values()]))
      mount(endpoint, joinPaths("", endpoint.path));
  if (!("prefix" in source)) return;
  for (const { endpoint } of getDecoratedMethods(target)) {
    if (findTableOfEntry(endpoint) === undefined) mount(endpoint, joinPaths(source.prefix, endpoint.path));
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
