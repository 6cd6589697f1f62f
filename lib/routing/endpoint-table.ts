/**
 * A table of endpoints: paths below one prefix, named after their keys. A leaf that a front end may import too; the controller that
 * is given the table handles every entry exactly once, or the application does not start.
 *
 * @example
 * export const links = routes("links", "/teams/{team}/links", { index: Get("/"), show: Get("/{id}"), create: Post("/") });
 * links.show.url("red", 7); // "/teams/red/links/7", named "links.show"
 */
import { nameOf } from "../di/token.js";
import type { Diagnostic } from "../errors/diagnostic.js";
import type { AnyEndpoint } from "./handler.js";
import { endpoint, isEndpoint, type Endpoint } from "./endpoint.js";
import { joinPaths, pathText, type Join } from "./path.js";
import { invalidRoutes } from "./route.js";

/** The entries of a table, each below the prefix. */
export type EndpointTable<Prefix extends string, T extends Readonly<Record<string, AnyEndpoint>>> = {
  readonly [K in keyof T]: Endpoint<Join<Prefix, T[K]["path"]>>;
};

/** What a controller has to know of the table it is given. */
export interface TableFacts {
  readonly name: string;
  readonly entries: ReadonlyMap<string, AnyEndpoint>;
  /** In a resource a method that is named like an entry handles it. */
  readonly bindsByName: boolean;
  readonly findings: readonly Diagnostic[];
}

/** Names are `<name>.<key>`, but for an entry that was given a name of its own. */
export function routes<const Prefix extends string, const T extends Readonly<Record<string, AnyEndpoint>>>(
  name: string,
  prefix: Prefix,
  entries: T,
): EndpointTable<Prefix, T> {
  const start = pathText(prefix, `the table "${name}"`);
  const made = Object.entries(entries).map(([key, entry]) => [key, below(name, start, key, entry)] as const);
  const table = registered(new Map(made), { name, bindsByName: false, findings: [] });
  // Every key of T has its endpoint, joined as the type says.
  return table as EndpointTable<Prefix, T>;
}

/** Makes a table known, so that a controller can be given it. @internal */
export function registered(
  entries: ReadonlyMap<string, AnyEndpoint>,
  facts: Omit<TableFacts, "entries">,
): Readonly<Record<string, AnyEndpoint>> {
  const table = Object.freeze(Object.fromEntries(entries));
  const known = { ...facts, entries };
  tables.set(table, known);
  for (const entry of entries.values()) owners.set(entry, known);
  return table;
}

/** The facts of a table; `undefined` for anything else. @internal */
export function tableFacts(table: object): TableFacts | undefined {
  return tables.get(table);
}

/** The table an endpoint is an entry of; `undefined` for one that stands alone. @internal */
export function tableOf(entry: AnyEndpoint): TableFacts | undefined {
  return owners.get(entry);
}

const tables = new WeakMap<object, TableFacts>();
const owners = new WeakMap<AnyEndpoint, TableFacts>();

function below(table: string, prefix: string, key: string, entry: AnyEndpoint): AnyEndpoint {
  if (!isEndpoint(entry)) throw invalidRoutes(`"${key}" of the table "${table}", ${nameOf(entry)}, is no endpoint`);
  const name = entry.name ?? (table === "" ? key : `${table}.${key}`);
  return endpoint(entry.method, joinPaths(prefix, entry.path), { name, pages: entry.pages });
}
