/**
 * The OpenAPI document of an application: from the contracts of its routes alone. The same routes give the same document, and the same text.
 *
 * @example
 * const document = createOpenApi(Application.create(ShopModule).build(), { info: { title: "Shop", version: "2.1.0" } });
 * writeFileSync("openapi.json", JSON.stringify(document, null, 2));
 */
import { formatRoute } from "../endpoints/endpoint.js";
import { Path } from "../endpoints/path.js";
import { StartupError, type Diagnostic } from "../errors/diagnostic.js";
import { checkOptionNames, type OptionNames } from "../errors/option-names.js";
import { createSetupError } from "../errors/setup-error.js";
import { valueText } from "../errors/value-text.js";
import type { RouteDescriptor } from "../routing/route.js";
import { Routes } from "../routing/routes.js";
import { ComponentSchemas } from "./component-schemas.js";
import { isObject, type JsonObject, type OpenApiDocument, type OpenApiOptions, sortMembers } from "./document.js";
import { describeTags, findTextFaults } from "./document-texts.js";
import { describeOperation, type SharedParts, type OperationRoute } from "./operation.js";
import { type DocumentPath, toDocumentPath } from "./parameters.js";
import { SecuritySchemes } from "./security-schemes.js";
import { SharedResponses } from "./shared-responses.js";

/** An application, or its routes. */
export type RouteSource =
  | Routes
  | {
      routes(): Routes;
      pipeline(): readonly { readonly slot: string; readonly on: boolean }[];
      /** Whether visitors who read pages get errors as pages. */
      readonly hasErrorPages?: boolean;
    };

/** The parts of the pipeline that change the responses of routes. */
export type PipelineFacts = Pick<SharedParts, "checksCsrf" | "hasErrorPages">;

export const OPEN_API_OPTIONS: OptionNames<OpenApiOptions> = {
  info: true,
  servers: true,
  version: true,
  securitySchemes: true,
  problem: true,
  texts: true,
  include: true,
};

/** The methods of a path item. */
const METHODS = ["GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE"];
/** The methods of a route for any method that the document shows. */
const ANY_METHODS = ["DELETE", "GET", "PATCH", "POST", "PUT"];

/**
 * @throws StartupError with each schema that has no JSON Schema, two schemas of one id, and security schemes that are not known
 * @throws FrameworkError `E_OPTION` for an unknown option
 */
export function createOpenApi(source: RouteSource, options: OpenApiOptions = {}): OpenApiDocument {
  checkOptionNames(options, OPEN_API_OPTIONS, "createOpenApi");
  checkOpenApiOptions(options, "createOpenApi");
  const isCollection = source instanceof Routes;
  const routes = isCollection ? source : source.routes();
  const { document, diagnostics } = describeRoutes(routes.descriptors(), options, {
    checksCsrf: !isCollection && source.pipeline().some(({ slot, on }) => slot === "csrf" && on),
    hasErrorPages: !isCollection && source.hasErrorPages === true,
  });
  if (diagnostics.length > 0) throw new StartupError(diagnostics, { head: "the API document cannot be created" });
  return document;
}

/** @internal */
export function checkOpenApiOptions(options: OpenApiOptions, where: string): void {
  for (const name of ["info", "securitySchemes", "texts"] as const)
    if (options[name] !== undefined && !isObject(options[name]))
      throw createSetupError("E_OPTION", `${where}: ${name} is ${valueText(options[name])}: give an object`);
  const { version = "3.1" } = options;
  if (version !== "3.1" && version !== "3.2")
    throw createSetupError("E_OPTION", `${where}: version is ${valueText(version)}: give "3.1" or "3.2"`);
}

/** The document, which is complete only without diagnostics. @internal */
export function describeRoutes(
  descriptors: readonly RouteDescriptor[],
  options: OpenApiOptions,
  pipeline: PipelineFacts,
): { readonly document: OpenApiDocument; readonly diagnostics: readonly Diagnostic[] } {
  const components = new ComponentSchemas();
  const responses = new SharedResponses(components, options.problem, pipeline.hasErrorPages);
  const parts: SharedParts = {
    components,
    responses,
    security: new SecuritySchemes(options.securitySchemes),
    options,
    ...pipeline,
  };
  const operations = listOperations(descriptors.filter(options.include ?? isPublic).filter(hasPath));
  const paths = describePaths(operations, parts);
  const document: OpenApiDocument = {
    openapi: options.version === "3.2" ? "3.2.0" : "3.1.1",
    info: { title: "app", version: "0.0.0", ...options.info },
    servers: options.servers ?? [{ url: "/" }],
    tags: describeTags(new Set(operations.map(({ tag }) => tag)), options.texts),
    paths,
    components: { schemas: components.list(), responses: responses.list(), ...parts.security.list() },
  };
  // The texts may be those of several documents, each of which has a part of the routes.
  const known = options.include === undefined ? operations : listOperations(descriptors.filter(hasPath));
  const diagnostics = [...components.diagnostics, ...parts.security.diagnostics];
  return {
    document,
    diagnostics: [...diagnostics, ...findRepeatedIds(operations), ...findTextFaults(known, options.texts)],
  };
}

/** A path that is no template is a fault of the routes. */
function hasPath({ path }: RouteDescriptor): boolean {
  return Path.read(path) instanceof Path;
}

function isPublic({ contract, name }: RouteDescriptor): boolean {
  return contract !== undefined || name !== undefined;
}

function listOperations(descriptors: readonly RouteDescriptor[]): readonly OperationRoute[] {
  const paths = new Map<string, DocumentPath>();
  const sorted = descriptors.toSorted((left, right) => (formatSortKey(left) < formatSortKey(right) ? -1 : 1));
  const taken = new Set(sorted.map(({ method, path }) => `${method} ${Path.of(path).shape}`));
  return sorted.flatMap((descriptor) => {
    const path = Path.of(descriptor.path);
    // Templates of the same paths are one path of the document, whatever the names of their captures.
    const documentPath = paths.get(path.shape) ?? toDocumentPath(path);
    paths.set(path.shape, documentPath);
    const { method, name } = descriptor;
    const isAny = method === "ANY";
    const methods = isAny ? ANY_METHODS.filter((each) => !taken.has(`${each} ${path.shape}`)) : [method];
    const queryId = findQueryName(descriptor, sorted);
    const tag = getTag(queryId ?? name, path);
    return methods.map((each) => {
      const named = isAny && name !== undefined ? `${name}.${each.toLowerCase()}` : name;
      return toOperation(descriptor, each, { path, documentPath, id: named ?? toId(each, path), queryId, tag });
    });
  });
}

/** The name of the QUERY whose POST of `.orPost()` the route is. */
function findQueryName(
  { method, path, contract }: RouteDescriptor,
  descriptors: readonly RouteDescriptor[],
): string | undefined {
  if (method !== "POST" || contract === undefined) return undefined;
  const found = descriptors.find((each) => each.method === "QUERY" && each.path === path && each.contract === contract);
  return found?.name;
}

/** The name of the table; for an endpoint without one the first segment of its path. */
function getTag(name: string | undefined, { segments }: Path): string {
  const dot = name?.lastIndexOf(".") ?? -1;
  if (dot > 0) return name?.slice(0, dot) ?? "";
  return segments.find(({ kind, text }) => kind === "literal" && text !== "")?.text ?? "root";
}

function formatSortKey({ path, method }: RouteDescriptor): string {
  return `${path}\u0000${method}`;
}

/** The id of an endpoint without a name: `get.notes.id`. */
function toId(method: string, { segments }: Path): string {
  return [method.toLowerCase(), ...segments.map(({ text }) => text.replace(/[^\w-]/g, "-"))].filter(Boolean).join(".");
}

function toOperation(
  descriptor: RouteDescriptor,
  method: string,
  place: Pick<OperationRoute, "documentPath" | "id" | "path" | "queryId" | "tag">,
): OperationRoute {
  const { contract, bearer = false, deprecated = false, sunset } = descriptor;
  return {
    ...place,
    method,
    contract,
    bearer,
    isCsrfExempt: descriptor.csrf === "exempt",
    isDeprecated: deprecated !== false,
    sunset: typeof sunset === "string" ? sunset : undefined,
    title: formatRoute(descriptor),
  };
}

function describePaths(
  operations: readonly OperationRoute[],
  parts: SharedParts,
): Readonly<Record<string, JsonObject>> {
  const paths = new Map<string, Record<string, JsonObject>>();
  for (const operation of operations) {
    const { key } = operation.documentPath;
    const item = paths.get(key) ?? {};
    item[toItemMember(operation.method, parts.options)] = describeOperation(operation, parts);
    paths.set(key, item);
  }
  return sortMembers(paths);
}

/** OpenAPI knows the method QUERY from 3.2 on. */
function toItemMember(method: string, { version }: OpenApiOptions): string {
  const name = method.toLowerCase();
  return METHODS.includes(method) || version === "3.2" ? name : `x-${name}`;
}

/** Generators of clients name a function after each id. */
function findRepeatedIds(operations: readonly OperationRoute[]): readonly Diagnostic[] {
  const firsts = new Map<string, OperationRoute>();
  return operations.flatMap((operation) => {
    const first = firsts.get(operation.id) ?? operation;
    firsts.set(operation.id, first);
    if (first === operation) return [];
    return {
      code: "E_OPENAPI_OPERATION",
      what: `two operations of the API document have the id ${JSON.stringify(operation.id)}`,
      where: `${first.title} and ${operation.title}`,
      fix: "give one of the two endpoints another name",
    };
  });
}
