/**
 * A table below a further prefix: a new table, whose endpoints have the schemas and guards of the former one. So one table may have several
 * prefixes, and each of them has its URLs. A method that is decorated with an entry handles that entry in each table that its controller is
 * given.
 *
 * @example
 * export const v1 = prefix("/v1", links);
 * v1.show.url(7); // "/v1/links/7", named "v1.links.show"
 * prefix("/v0", links, { deprecated: "2026-11-01", sunset: "2027-06-30" });
 *
 * @Controller(links, v1)
 */
import { refuseForeignCopy } from "../errors/copy.js";
import { checkOptionNames } from "../errors/option-names.js";
import { createSetupError } from "../errors/setup-error.js";
import { valueText } from "../errors/value-text.js";
import { createRoutesError, type AnyEndpoint, type Endpoint } from "./endpoint.js";
import { copyEntry, findTable, registerTable, type TableEntry } from "./endpoint-table.js";
import type { ResourceMark } from "./handler.js";
import { joinPaths } from "./filled-path.js";
import { requirePathText, type Join } from "./path.js";
import type { RouteOptions } from "./route-options.js";
import { toPrefixedName } from "./prefixed-name.js";

/** The `deprecated` or `sunset` of an entry stands above that of the prefix. */
export interface PrefixOptions extends Pick<RouteOptions, "deprecated" | "sunset"> {
  /** The text before the names, with a dot after it; by default the literal segments of the prefix. With `""` the names stay. */
  readonly name?: string;
}

/** The entries of a table, each below a further prefix. */
export type PrefixedTable<P extends string, T extends object> = (T extends ResourceMark ? ResourceMark : unknown) & {
  readonly [K in keyof T & string]: T[K] extends TableEntry
    ? Endpoint<Join<P, T[K]["path"]>, T[K]["~options"], T[K]["~added"]>
    : never;
};

/**
 * @param path the prefix, which may have captures
 * @param table of `routes`, `resource` or `prefix`
 * @throws FrameworkError `E_ROUTES_INVALID` for another value than a table
 */
export function prefix<const P extends string, const T extends object>(
  path: P,
  table: T,
  options: PrefixOptions = {},
): PrefixedTable<P, T> {
  refuseForeignCopy(table);
  const start = requirePathText(path, "prefix(…)");
  const place = `prefix("${path}", …)`;
  checkOptionNames<PrefixOptions>(options, { name: true, deprecated: true, sunset: true }, place);
  const { name } = options;
  if (name !== undefined && typeof name !== "string")
    throw createSetupError("E_OPTION", `${place}: name is ${valueText(name)}: give a text`);
  const source = findTable(table);
  if (source === undefined)
    throw createRoutesError(
      `${place} is given ${valueText(table)}, which is no table: give that of routes() or resource()`,
    );
  const entries = [...source.entries].map(([key, entry]) => [key, prefixEntry(entry, start, options)] as const);
  const prefixed: object = registerTable({
    ...source,
    name: toPrefixedName(start, name, source.name),
    entries: new Map(entries),
  });
  // Every key of T has its endpoint, joined as the type says; the mark exists for the compiler only.
  return prefixed as PrefixedTable<P, T>;
}

function prefixEntry(entry: AnyEndpoint, start: string, options: PrefixOptions): AnyEndpoint {
  const name = entry.name === undefined ? undefined : toPrefixedName(start, options.name, entry.name);
  const prefixed = copyEntry(entry, { path: joinPaths(start, entry.path), name, contract: entry.contract }, options);
  sources.set(prefixed, entry);
  return prefixed;
}

/** The entries from which those of a prefixed table come. */
const sources = new WeakMap<AnyEndpoint, AnyEndpoint>();

/** Returns the entry, and those from which it comes: that of the unprefixed table last. @internal */
export function listSourceEntries(entry: AnyEndpoint): readonly AnyEndpoint[] {
  const source = sources.get(entry);
  return source === undefined ? [entry] : [entry, ...listSourceEntries(source)];
}
