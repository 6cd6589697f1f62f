/**
 * A table of endpoints: paths below one prefix, named after their keys. It imports no handler, so that a front end may import it too.
 * The controller that is given the table handles every entry exactly once, or the application does not start.
 *
 * @example
 * export const links = routes("links", "/teams/{team}/links", { index: Get("/"), show: Get("/{id}"), create: Post("/") });
 * links.show.url("red", 7); // "/teams/red/links/7", named "links.show"
 */
import { refuseForeignCopy } from "../errors/copy.js";
import { markKind } from "../errors/copy-mark.js";
import { valueText } from "../errors/value-text.js";
import type { Diagnostic, Warning } from "../errors/diagnostic.js";
import { createSetupError } from "../errors/setup-error.js";
import { checkOptionNames } from "../errors/option-names.js";
import type { AddsOf, Contract } from "./contract.js";
import { createEndpoint, createRoutesError, isEndpoint, type Endpoint, type AnyEndpoint } from "./endpoint.js";
import { joinPaths } from "./filled-path.js";
import { toUsedGuards, type GuardList, type UsedGuard } from "./guard.js";
import { requirePathText, type Join } from "./path.js";
import { pickRouteOptions, type RouteOptions } from "./route-options.js";

/** The types of an entry that its table reads. */
export interface TableEntry extends AnyEndpoint {
  readonly "~options": unknown;
  readonly "~added": unknown;
}

type TableEntries = Readonly<Record<string, TableEntry>>;

/** The entries of a table, each below the prefix. `A` are the values that the guards of the table add. */
export type EndpointTable<Prefix extends string, T extends TableEntries, A = unknown> = {
  readonly [K in keyof T]: Endpoint<Join<Prefix, T[K]["path"]>, T[K]["~options"], A>;
};

/** Options for all entries of a table. The `deprecated` or `sunset` of an entry stands above that of the table. */
export interface TableOptions extends Pick<RouteOptions, "deprecated" | "sunset"> {
  /** They run before the guards of an entry. */
  readonly guards?: GuardList;
}

/** A table as its controller reads it. */
export interface Table {
  readonly name: string;
  readonly entries: ReadonlyMap<string, AnyEndpoint>;
  /** True for a resource: a method with the name of an entry handles the entry. */
  readonly isHandledByName: boolean;
  readonly diagnostics: readonly Diagnostic[];
  readonly warnings: readonly Warning[];
}

/** Names are `<name>.<key>`; an entry that already has a name keeps it. */
export function routes<
  const Prefix extends string,
  const T extends TableEntries,
  const O extends TableOptions = object,
>(name: string, prefix: Prefix, entries: T, options?: O): EndpointTable<Prefix, T, AddsOf<O>> {
  const place = `the table "${name}"`;
  checkOptionNames<TableOptions>(options, { guards: true, deprecated: true, sunset: true }, place);
  const start = requirePathText(prefix, place);
  const guards = toUsedGuards(options?.guards, place);
  const joinedEntries = Object.entries(entries).map(
    ([key, entry]) => [key, joinEntry({ name, start, guards, options }, key, entry)] as const,
  );
  const table = registerTable({
    name,
    entries: new Map(joinedEntries),
    isHandledByName: false,
    diagnostics: [],
    warnings: [],
  });
  // Every key of T has its endpoint, joined as the type says.
  return table as unknown as EndpointTable<Prefix, T, AddsOf<O>>;
}

/** Returns the object with the endpoints of a table, which a controller can be given. @internal */
export function registerTable(table: Table): Readonly<Record<string, AnyEndpoint>> {
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
export function findTableOfEntry(entry: AnyEndpoint): Table | undefined {
  return tablesByEntry.get(entry);
}

const tables = new WeakMap<object, Table>();
const tablesByEntry = new WeakMap<AnyEndpoint, Table>();

interface TableStart {
  readonly name: string;
  readonly start: string;
  readonly guards: readonly UsedGuard[];
  readonly options: TableOptions | undefined;
}

function joinEntry({ name: table, start, guards, options }: TableStart, key: string, entry: unknown): AnyEndpoint {
  refuseForeignCopy(entry);
  if (!isEndpoint(entry))
    throw createRoutesError(`"${key}" of the table "${table}", ${valueText(entry)}, is not an endpoint`);
  // The client of the table has a call of this name, and a promise would wait for it.
  if (key === "then")
    throw createSetupError(
      "E_ROUTES_INVALID",
      `the table "${table}" has an entry "then", for which \`await\` takes its client for a promise: use another name`,
    );
  const name = entry.name ?? (table === "" ? key : `${table}.${key}`);
  return copyEntry(
    entry,
    { path: joinPaths(start, entry.path), name, contract: withGuards(entry.contract, guards) },
    options,
  );
}

/** Returns an endpoint with the options of another one, and with those of the table that it lacks. @internal */
export function copyEntry(
  entry: AnyEndpoint,
  { path, name, contract }: Pick<AnyEndpoint, "contract" | "name" | "path">,
  { deprecated = false, sunset }: Pick<RouteOptions, "deprecated" | "sunset"> = {},
): AnyEndpoint {
  const { method, pages, alsoPost } = entry;
  const given = { deprecated, ...(sunset !== undefined && { sunset }), ...pickRouteOptions(entry) };
  const options = { ...(name !== undefined && { name }), pages, ...pickRouteOptions(given) };
  return createEndpoint(method, path, options, { contract, alsoPost });
}

/** The contract of an entry with the guards of its table before those of the entry. A guard of both runs once. @internal */
export function withGuards(contract: Contract | undefined, guards: readonly UsedGuard[]): Contract | undefined {
  if (guards.length === 0) return contract;
  const added = (contract?.guards ?? []).filter((each) => !guards.some((known) => isSameUse(known, each)));
  return Object.freeze({ ...contract, guards: [...guards, ...added] });
}

function isSameUse(one: UsedGuard, other: UsedGuard): boolean {
  const { length } = one.args;
  if (one.definition !== other.definition || length !== other.args.length) return false;
  return one.args.every((each, at) => Object.is(each, other.args[at]));
}
