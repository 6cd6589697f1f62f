/**
 * An endpoint: the decorator of a handler, the route's descriptor and its typed URL, in one value. Write it in place, keep it in a
 * constant to make URLs from it, or collect several in a table (`routes`, `resource`). Without decorators use `Route`.
 *
 * @example
 * const show = Get("/links/{id}", "links.show");
 * show.url(7); // "/links/7"
 *
 * class Links {
 *   @show show({ params }: Context<"id">) { return params.id; }
 * }
 */
import { FrameworkError } from "../errors/framework-error.js";
import { type AnyEndpoint, titleOf, recordUse, type AnyHandler, type Fits, type Method } from "./handler.js";
import { joinPaths, Path, pathText, type UrlArguments } from "./path.js";

export interface Endpoint<P extends string = string> extends AnyEndpoint {
  /** Decorates the method that handles this endpoint. */
  <H extends AnyHandler>(
    target: object,
    key: string | symbol,
    descriptor: TypedPropertyDescriptor<H> & Fits<H, P>,
  ): void;
  readonly path: P;
  /**
   * The URL, one value per capture in the order of the path, each percent-encoded; below the prefix of the controller that handles it.
   * Throws `E_ROUTE_PARAM`, naming the parameter, for a value that is empty, `.` or `..`; `E_ENDPOINT_SHARED` where controllers with
   * different prefixes have the endpoint.
   */
  url(...values: UrlArguments<P>): string;
}

export interface EndpointOptions {
  /** Dotted, unique in the application: `links.show`. */
  readonly name?: string;
  readonly page?: string;
  readonly pages?: readonly string[];
}

/** Answers GET, and HEAD unless that has a route of its own. */
export function Get<const P extends string>(path: P, options?: string | EndpointOptions): Endpoint<P> {
  return endpoint("GET", path, options);
}

export function Post<const P extends string>(path: P, options?: string | EndpointOptions): Endpoint<P> {
  return endpoint("POST", path, options);
}

export function Put<const P extends string>(path: P, options?: string | EndpointOptions): Endpoint<P> {
  return endpoint("PUT", path, options);
}

export function Patch<const P extends string>(path: P, options?: string | EndpointOptions): Endpoint<P> {
  return endpoint("PATCH", path, options);
}

export function Delete<const P extends string>(path: P, options?: string | EndpointOptions): Endpoint<P> {
  return endpoint("DELETE", path, options);
}

export function Head<const P extends string>(path: P, options?: string | EndpointOptions): Endpoint<P> {
  return endpoint("HEAD", path, options);
}

export function Options<const P extends string>(path: P, options?: string | EndpointOptions): Endpoint<P> {
  return endpoint("OPTIONS", path, options);
}

/** Answers every method that has no route of its own at the same template. */
export function Any<const P extends string>(path: P, options?: string | EndpointOptions): Endpoint<P> {
  return endpoint("ANY", path, options);
}

/** @internal */
export function endpoint<P extends string>(method: Method, path: P, options?: string | EndpointOptions): Endpoint<P> {
  const { name, page, pages = [] } = typeof options === "string" ? { name: options } : (options ?? {});
  const decorate = (target: object, key: string | symbol): void => recordUse(target, key, made);
  const members = {
    method,
    path: pathText(path, `a ${method} endpoint`),
    name,
    pages: Object.freeze(page === undefined ? [...pages] : [page, ...pages]),
    url: (...values: readonly unknown[]) => Path.of(placeOf(made)).fill(values),
  };
  // A function whose own members are those of an endpoint: `name` is one that plain assignment cannot replace.
  const made = Object.defineProperties(decorate, descriptorsOf(members)) as unknown as Endpoint<P>;
  endpoints.add(made);
  return made;
}

/** Whether a value was made by one of the constructors above. @internal */
export function isEndpoint(value: unknown): value is AnyEndpoint {
  return typeof value === "function" && endpoints.has(value);
}

/** Puts an endpoint that is written in place below the prefix of its controller. @internal */
export function mount(mounted: AnyEndpoint, prefix: string): void {
  const path = joinPaths(prefix, mounted.path);
  const known = places.get(mounted) ?? [];
  if (!known.includes(path)) places.set(mounted, [...known, path]);
}

const endpoints = new WeakSet<object>();
/** The whole paths of endpoints written in place: one each, unless controllers with several prefixes inherit or share it. */
const places = new WeakMap<object, readonly string[]>();

function placeOf(made: AnyEndpoint): string {
  const [place = joinPaths("", made.path), other] = places.get(made) ?? [];
  if (other === undefined) return place;
  throw new FrameworkError(
    `the URL of ${titleOf(made)} may be ${place} or ${other}: controllers with different prefixes have it; give each an endpoint of its own`,
    { code: "E_ENDPOINT_SHARED" },
  );
}

function descriptorsOf(members: Readonly<Record<string, unknown>>): PropertyDescriptorMap {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, { value, enumerable: true }]));
}
