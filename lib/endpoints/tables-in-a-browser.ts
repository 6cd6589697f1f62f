/**
 * Endpoints, tables and guards as values, for a browser: the same paths, names and URLs as those of the server, without its checks and
 * without decorators. The server loads the same files, and refuses their mistakes when it starts. Its types are those of the server.
 */
import type * as endpoint from "./endpoint.js";
import type * as endpointTable from "./endpoint-table.js";
import { fillTemplate, joinPaths } from "./filled-path.js";
import type { GuardOptions } from "./guard.js";
import type * as guards from "./guard.js";
import type { Method } from "./method.js";
import type { PrefixOptions } from "./prefix.js";
import type * as prefixes from "./prefix.js";
import { toPrefixedName } from "./prefixed-name.js";
import { ACTIONS } from "./resource-actions.js";
import type * as resources from "./resource.js";
import type * as schemas from "../runtime/standard-schema.js";

type GivenOptions = string | endpoint.EndpointOptions | undefined;

/** An endpoint without its decorator. */
type BrowserEndpoint = Pick<endpoint.AnyEndpoint, "method" | "path" | "name" | "url"> & {
  /** The options, of which the client reads those of the contract; a text has none of them. */
  readonly contract: GivenOptions;
  /** In types only that of `Query`. */
  orPost(): BrowserEndpoint;
};

function createEndpoint(
  method: Method,
  path: string,
  name: string | undefined,
  contract?: GivenOptions,
): BrowserEndpoint {
  const full = joinPaths("", path);
  return {
    method,
    path,
    name,
    contract,
    url: (...values) => fillTemplate(full, values),
    orPost() {
      return this;
    },
  };
}

/** The types of the server's constructors hold for the values above, but for the decorator, which nothing in a browser calls. */
function createConstructor(method: Method): typeof endpoint.Query {
  const create = (path: string, options?: GivenOptions): BrowserEndpoint =>
    createEndpoint(method, path, typeof options === "string" ? options : options?.name, options);
  return create as unknown as typeof endpoint.Query;
}

export const Any = createConstructor("ANY");
export const Delete = createConstructor("DELETE");
export const Get = createConstructor("GET");
export const Head = createConstructor("HEAD");
export const Options = createConstructor("OPTIONS");
export const Patch = createConstructor("PATCH");
export const Post = createConstructor("POST");
export const Put = createConstructor("PUT");
export const Query = createConstructor("QUERY");

type BrowserEntry = Pick<BrowserEndpoint, "method" | "path"> & Partial<BrowserEndpoint>;

function createTable(table: string, prefix: string, entries: Readonly<Record<string, BrowserEntry>>): object {
  const endpoints = Object.entries(entries).map(([key, { method, path, name, contract }]) => [
    key,
    createEndpoint(method, joinPaths(prefix, path), name ?? (table === "" ? key : `${table}.${key}`), contract),
  ]);
  return Object.fromEntries(endpoints);
}

export const routes = createTable as unknown as typeof endpointTable.routes;

export const prefix = ((path: string, table: Readonly<Record<string, BrowserEndpoint>>, options: PrefixOptions = {}) =>
  Object.fromEntries(
    Object.entries(table).map(([key, { method, path: end, name = "", contract }]) => [
      key,
      createEndpoint(method, joinPaths(path, end), toPrefixedName(path, options.name, name), contract),
    ]),
  )) as unknown as typeof prefixes.prefix;

export const resource = ((
  name: string,
  path: string,
  {
    only = Object.keys(ACTIONS),
    except = [],
  }: { readonly only?: readonly string[]; readonly except?: readonly string[] } = {},
) => {
  const chosen = Object.entries(ACTIONS).filter(([action]) => only.includes(action) && !except.includes(action));
  return createTable(name, path, Object.fromEntries(chosen));
}) as unknown as typeof resources.resource;

export const guard = ((name: string, { scheme, refusals = [401, 403] }: GuardOptions = {}) => {
  const definition = (...args: readonly unknown[]): object => ({ definition, args });
  return Object.defineProperty(Object.assign(definition, { scheme, refusals }), "name", { value: name });
}) as unknown as typeof guards.guard;

/** A browser reads no JSON Schema. */
export const withJsonSchema = ((schema: object) => schema) as typeof schemas.withJsonSchema;
