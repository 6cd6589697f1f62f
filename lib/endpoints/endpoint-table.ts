/**
 * A table of endpoints: paths below one prefix, named after their keys. It imports no handler, so that a front end may import it too.
 * The controller that is given the table handles every entry exactly once, or the application does not start.
 *
 * @example
 * export const links = routes("links", "/teams/{team}/links", { index: Get("/"), show: Get("/{id}"), create: Post("/") });
 * links.show.url("red", 7); // "/teams/red/links/7", named "links.show"
 */
import { markKind, refuseForeignCopy } from "../errors/copy.js";
import { valueText } from "../errors/value-text.js";
import type { Diagnostic, Warning } from "../errors/diagnostic.js";
import { createEndpoint, createRoutesError, isEndpoint, pickRouteOptions, type Endpoint } from "./endpoint.js";
import { joinPaths, requirePathText, type Join } from "./path.js";

/** The entries of a table, each below the prefix. */
export type EndpointTable<Prefix extends string, T extends Readonly<Record<string, Endpoint>>> = {
  readonly [K in keyof T]: Endpoint<Join<Prefix, T[K]["path"]>>;
};

/** A table as its controller reads it. */
export interface Table {
  readonly name: string;
  readonly entries: ReadonlyMap<string, Endpoint>;
  /** True for a resource: a method with the name of an entry handles the entry. */
  readonly isHandledByName: boolean;
  readonly diagnostics: readonly Diagnostic[];
  readonly warnings: readonly Warning[];
}

/** Names are `<name>.<key>`; an entry that already has a name keeps it. */
export function routes<const Prefix extends string, const T extends Readonly<Record<string, Endpoint>>>(
  name: string,
  prefix: Prefix,
  entries: T,
): EndpointTable<Prefix, T> {
  const start = requirePathText(prefix, `the table "${name}"`);
  const joinedEntries = Object.entries(entries).map(
    ([key, entry]) => [key, joinEntry(name, start, key, entry)] as const,
  );
  const table = registerTable({
    name,
    entries: new Map(joinedEntries),
    isHandledByName: false,
    diagnostics: [],
    warnings: [],
  });
  // Every key of T has its endpoint, joined as the type says.
  return table as EndpointTable<Prefix, T>;
}

/** Returns the object with the endpoints of a table, which a controller can be given. @internal */
export function registerTable(table: Table): Readonly<Record<string, Endpoint>> {
  const handle = Object.fromEntries(table.entries);
  markKind(handle, "table");
  tables.set(handle, table);
  for (const entry of table.entries.values()) tablesByEntry.set(entry, table);
  return Object.freeze(handle);
}

/** Returns the table that `routes` or `resource` returned as this value; `undefined` for any other value. @internal */
export function findTable(value: object): Table | undefined {
  return tables.get(value);
}

/** Returns the table that has the endpoint as an entry; `undefined` for an endpoint without a table. @internal */
export function findTableOfEntry(entry: Endpoint): Table | undefined {
  return tablesByEntry.get(entry);
}

const tables = new WeakMap<object, Table>();
const tablesByEntry = new WeakMap<Endpoint, Table>();

function joinEntry(table: string, prefix: string, key: string, entry: Endpoint): Endpoint {
  refuseForeignCopy(entry);
  if (!isEndpoint(entry))
    throw createRoutesError(`"${key}" of the table "${table}", ${valueText(entry)}, is not an endpoint`);
  const name = entry.name ?? (table === "" ? key : `${table}.${key}`);
  return createEndpoint(entry.method, joinPaths(prefix, entry.path), {
    name,
    pages: entry.pages,
    ...pickRouteOptions(entry),
  });
}
