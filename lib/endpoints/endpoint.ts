/**
 * An endpoint: the decorator of a handler, the declaration of a route and its typed URL, in one value. Write it above a method, store it in
 * a constant to get URLs from it, or collect several in a table (`routes`, `resource`). Without decorators use `Route`.
 *
 * @example
 * const show = Get("/links/{id}", "links.show");
 * show.url(7); // "/links/7"
 *
 * class Links {
 *   @show show({ params }: Context<"id">) { return params.id; }
 * }
 */
import { checkOptionNames, type OptionNames } from "../errors/option-names.js";
import { markKind } from "../errors/copy-mark.js";
import { requireParentheses } from "../errors/bare-decorator.js";
import { FrameworkError } from "../errors/framework-error.js";
import type { Context } from "../http/request/context.js";
import type { AddsOf, Contract, ContractOptions, OutputOf, ParamsOf, RequestOf, ReturnsOf } from "./contract.js";
import { toUsedGuards } from "./guard.js";
import { getClassChain, type AnyClass, type AnyHandler, type Fits } from "./handler.js";
import { toIdempotent } from "./idempotent.js";
import type { Method } from "./method.js";
import { MethodRecords, toDecoratedMethod } from "./method-records.js";
import { joinPaths } from "./filled-path.js";
import { Path, requirePathText, type Names, type UrlArguments } from "./path.js";
import type { ResultOf, SuccessOf } from "./received.js";
import { checkRouteOptions, pickRouteOptions, ROUTE_OPTIONS, type RouteOptions } from "./route-options.js";
import { createSetupError } from "../errors/setup-error.js";

/** The members of an endpoint whose types do not depend on its contract. */
export interface AnyEndpoint<P extends string = string> extends RouteOptions {
  readonly method: Method;
  /** The template as given to the constructor; in a table it includes the prefix of the table. */
  readonly path: P;
  /** Dotted, unique in the application; `undefined` for a route without a name. */
  readonly name: string | undefined;
  /** The pages that the handler is declared to render. */
  readonly pages: readonly string[];
  /** The schemas and guards; `undefined` for an endpoint without any. */
  readonly contract: Contract | undefined;
  /** The endpoint handles POST too: `Query(…).orPost()`. */
  readonly alsoPost?: boolean;
  /**
   * The URL, one value per capture in the order of the path, each percent-encoded. It includes the prefix of the controller.
   * Throws `E_ROUTE_PARAM`, naming the parameter, for a value that is empty, `.` or `..`; `E_ENDPOINT_SHARED` where controllers with
   * different prefixes have the endpoint.
   */
  url(...values: UrlArguments<P>): string;
}

/**
 * @typeParam P the path
 * @typeParam O the options with which the endpoint was made
 * @typeParam A the values that the guards of its table add to the context
 */
export interface Endpoint<P extends string = string, O = unknown, A = unknown> extends AnyEndpoint<P> {
  /** Decorates the method that handles this endpoint, as a standard decorator. */
  <H extends AnyHandler>(method: H & Fits<H, this>, context: ClassMethodDecoratorContext): void;
  // The compiler ends its message with the last of the signatures that fit by their count of arguments.
  /** Decorates the method that handles this endpoint, with `experimentalDecorators`. */
  <H extends AnyHandler>(
    target: object,
    key: string | symbol,
    descriptor: TypedPropertyDescriptor<H> & Fits<H, this>,
  ): void;
  // The members below exist in types only. The compiler computes each where it is read.
  /** Not inferred from the type that a table expects. */
  readonly "~options": NoInfer<O>;
  readonly "~added": NoInfer<A>;
  readonly "~context": Context<
    Names<P>,
    ParamsOf<P, O>,
    { readonly [K in keyof O & ("body" | "headers" | "query")]: OutputOf<O[K]> }
  > &
    AddsOf<O> &
    NoInfer<A>;
  readonly "~returns": ReturnsOf<O>;
  readonly "~request": RequestOf<P, O>;
  readonly "~success": SuccessOf<O>;
  readonly "~result": ResultOf<O>;
}

/** An endpoint of `Query`. */
export interface QueryEndpoint<P extends string, O> extends Endpoint<P, O> {
  /**
   * The same endpoint, which also handles POST at its template, for clients that cannot send QUERY. The CSRF stage checks such a POST as any
   * other. Its route has the name of the endpoint with `.post` behind it.
   */
  orPost(): Endpoint<P, O>;
}

export interface EndpointOptions extends RouteOptions, ContractOptions {
  /** Dotted, unique in the application: `links.show`. */
  readonly name?: string;
  readonly page?: string;
  readonly pages?: readonly string[];
}

const CONTRACT_OPTIONS: OptionNames<ContractOptions> = {
  params: true,
  query: true,
  headers: true,
  body: true,
  responses: true,
  guards: true,
  stripResponses: true,
  idempotent: true,
};
const NAMES: OptionNames<EndpointOptions> = {
  name: true,
  page: true,
  pages: true,
  ...ROUTE_OPTIONS,
  ...CONTRACT_OPTIONS,
};

/** Handles GET, and HEAD unless the template has a route for HEAD. */
export function Get<const P extends string, const O extends string | EndpointOptions = object>(
  path: P,
  options?: O,
  ...none: readonly never[]
): Endpoint<P, O> {
  return createEndpoint("GET", path, options, { none });
}

export function Post<const P extends string, const O extends string | EndpointOptions = object>(
  path: P,
  options?: O,
  ...none: readonly never[]
): Endpoint<P, O> {
  return createEndpoint("POST", path, options, { none });
}

export function Put<const P extends string, const O extends string | EndpointOptions = object>(
  path: P,
  options?: O,
  ...none: readonly never[]
): Endpoint<P, O> {
  return createEndpoint("PUT", path, options, { none });
}

export function Patch<const P extends string, const O extends string | EndpointOptions = object>(
  path: P,
  options?: O,
  ...none: readonly never[]
): Endpoint<P, O> {
  return createEndpoint("PATCH", path, options, { none });
}

export function Delete<const P extends string, const O extends string | EndpointOptions = object>(
  path: P,
  options?: O,
  ...none: readonly never[]
): Endpoint<P, O> {
  return createEndpoint("DELETE", path, options, { none });
}

export function Head<const P extends string, const O extends string | EndpointOptions = object>(
  path: P,
  options?: O,
  ...none: readonly never[]
): Endpoint<P, O> {
  return createEndpoint("HEAD", path, options, { none });
}

export function Options<const P extends string, const O extends string | EndpointOptions = object>(
  path: P,
  options?: O,
  ...none: readonly never[]
): Endpoint<P, O> {
  return createEndpoint("OPTIONS", path, options, { none });
}

/**
 * Handles QUERY (RFC 10008): a safe request with a body. A request without `Content-Type` is a 400. Responses have `Accept-Query`, and
 * `Cache-Control: no-store` unless the handler sets another value, because most caches do not compare the body of a request.
 *
 * @example
 * Query("/search", { body: Filter, responses: { 200: z.array(Link) } }).orPost();
 */
export function Query<const P extends string, const O extends string | EndpointOptions = object>(
  path: P,
  options?: O,
  ...none: readonly never[]
): QueryEndpoint<P, O> {
  const endpoint = createEndpoint<P, O>("QUERY", path, options, { none });
  return Object.assign(endpoint, {
    orPost: () => createEndpoint<P, O>("QUERY", path, options, { alsoPost: true }),
  });
}

/** Handles every method that has no separate route at the same template. */
export function Any<const P extends string, const O extends string | EndpointOptions = object>(
  path: P,
  options?: O,
  ...none: readonly never[]
): Endpoint<P, O> {
  return createEndpoint("ANY", path, options, { none });
}

interface EndpointParts {
  /** Further arguments, which only a decorator without parentheses is given. */
  readonly none?: readonly unknown[];
  /** The contract of an entry of a table, whose options have none. */
  readonly contract?: Contract | undefined;
  readonly alsoPost?: boolean | undefined;
}

/** @internal */
export function createEndpoint<P extends string, O>(
  method: Method,
  path: P,
  options?: string | EndpointOptions,
  { none = [], contract, alsoPost = false }: EndpointParts = {},
): Endpoint<P, O> {
  const place = `${capitalize(method)}("${path}")`;
  requireParentheses(`${capitalize(method)}("/path")`, ["method"], path, [options, ...none]);
  if (typeof options === "object") checkOptionNames(options, NAMES, place);
  const given: EndpointOptions = typeof options === "string" ? { name: options } : (options ?? {});
  const { name, page, pages = [] } = given;
  const decorate = (target: object, ...rest: readonly unknown[]): void => {
    const handler = toDecoratedMethod(place, target, rest);
    handled.add(handler, { key: handler.key, endpoint: created });
  };
  const members: Omit<AnyEndpoint<P>, "name"> & { readonly name: unknown } = {
    method,
    path: requirePathText(path, `a ${method} endpoint`),
    name,
    pages: Object.freeze(page === undefined ? [...pages] : [page, ...pages]),
    contract: contract ?? toContract(given, place),
    ...(alsoPost && { alsoPost }),
    ...checkRouteOptions(pickRouteOptions(given), place),
    url: (...values: readonly unknown[]) => Path.of(getFullTemplate(created)).fill(values),
  };
  // The members are defined, because the `name` of a function cannot be assigned. Those with `~` exist in types only.
  const created = Object.defineProperties(decorate, toPropertyDescriptors(members)) as unknown as Endpoint<P, O>;
  markKind(created, "endpoint");
  endpoints.add(created);
  return created;
}

/** @throws FrameworkError `E_GUARD` for a value under `guards` that is no guard */
function toContract(options: EndpointOptions, where: string): Contract | undefined {
  const given = Object.entries(options).filter(
    ([name, value]) => Object.hasOwn(CONTRACT_OPTIONS, name) && value !== undefined,
  );
  if (given.length === 0) return undefined;
  const guards = toUsedGuards(options.guards, where);
  const idempotent = options.idempotent !== undefined && { idempotent: toIdempotent(options.idempotent, where) };
  return Object.freeze({ ...Object.fromEntries(given), guards, ...idempotent });
}

function capitalize(method: Method): string {
  return `${method.charAt(0)}${method.slice(1).toLowerCase()}`;
}

/** Whether one of the constructors above created the value. @internal */
export function isEndpoint(value: unknown): value is AnyEndpoint {
  return typeof value === "function" && endpoints.has(value);
}

/** Returns the name of a route in messages: `GET /links/{id}`. */
export function formatRoute({ method, path }: Pick<AnyEndpoint, "method" | "path">): string {
  return `${method} ${path}`;
}

const endpoints = new WeakSet<object>();

function toPropertyDescriptors(members: Readonly<Record<string, unknown>>): PropertyDescriptorMap {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, { value, enumerable: true }]));
}

/** A method of a class and an endpoint that it handles. */
export interface HandlerMethod {
  readonly key: string | symbol;
  readonly endpoint: AnyEndpoint;
}

/** The endpoints of methods. */
const handled = new MethodRecords<HandlerMethod>();

/** Returns the decorated methods of a class and of its bases, base first. A method that is decorated again has only its new endpoints. */
export function getDecoratedMethods(controller: AnyClass): readonly HandlerMethod[] {
  return collectInherited(getClassChain(controller).map(({ prototype }) => prototype));
}

function collectInherited(targets: readonly object[]): readonly HandlerMethod[] {
  // Decorators of one method run from the lowest to the uppermost; the uppermost comes first here.
  return [...handled.getInherited(targets).values()].flatMap((own) => own.toReversed());
}

/** Records the path of a route of the endpoint with all prefixes, for the URL of the endpoint. @internal */
export function mount(mounted: AnyEndpoint, path: string): void {
  const known = fullPaths.get(mounted) ?? [];
  if (!known.includes(path)) fullPaths.set(mounted, [...known, path]);
}

/** The paths of endpoints with the prefixes of their controllers and groups: more than one where several prefixes have it. */
const fullPaths = new WeakMap<object, readonly string[]>();

/** Returns the template with all prefixes. Throws `E_ENDPOINT_SHARED` where routes below different prefixes have the endpoint. @internal */
export function getFullTemplate(mounted: AnyEndpoint): string {
  const [path = joinPaths("", mounted.path), other] = fullPaths.get(mounted) ?? [];
  if (other === undefined) return path;
  throw new FrameworkError(
    `the URL of ${formatRoute(mounted)} may be ${path} or ${other}: routes below different prefixes have it; give each a separate endpoint`,
    { code: "E_ENDPOINT_SHARED" },
  );
}

export function createRoutesError(message: string): FrameworkError {
  return createSetupError("E_ROUTES_INVALID", `${message}; undefined often means that two files import each other`);
}
