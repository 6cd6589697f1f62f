/**
 * What answers a request: a function or method of one argument, the `Context`, whose return value is the answer.
 * The types here tie a handler to its path, so that one that asks for a parameter which the path lacks does not compile.
 */
import type { Context } from "../http/context.js";
import type { Names } from "./path.js";

/** A handler as it is called. */
export type Handler = (ctx: Context) => unknown;

/** A handler for a path: it may ask for the captures of the path, or for fewer. */
export type HandlerOf<P extends string> = (ctx: Context<Names<P>>) => unknown;

/** Any function that could be decorated. */
export type AnyHandler = (...args: never[]) => unknown;

/** Compares parameter lists, not functions: methods are bivariant, and comparing them catches nothing. */
type Handles<H extends AnyHandler, P extends string> =
  Parameters<H> extends [] ? true : [Context<Names<P>>] extends Parameters<H> ? true : false;

/** The method's descriptor where the method can handle the path, else a type no descriptor has, whose property says why. */
export type Fits<H extends AnyHandler, P extends string> =
  Handles<H, P> extends true
    ? TypedPropertyDescriptor<H>
    : { readonly "handler asks for parameters that this path does not have": P };

/** The same for a whole controller of a resource, whose methods are bound by name; anything goes for a table. */
export type FitsTable<C extends AnyClass, T extends object> = T extends ResourceMark
  ? Misfits<InstanceType<C>, T> extends infer Wrong
    ? keyof Wrong extends never
      ? unknown
      : {
          // Written out, so that the compiler prints the actions and their paths instead of the name of a type.
          readonly "handler asks for parameters that the path of its action does not have": {
            [K in keyof Wrong]: Wrong[K];
          };
        }
    : never
  : unknown;

/** The methods that cannot handle the action they are named after, with its path. */
type Misfits<I, T> = { [K in keyof I & keyof T as Misfit<I[K], T[K]> extends true ? K : never]: PathOf<T[K]> };

type PathOf<E> = E extends { readonly path: infer P extends string } ? P : never;

type Misfit<H, E> = H extends AnyHandler ? (Handles<H, PathOf<E>> extends true ? false : true) : false;

/** What every endpoint has, whatever its path: the part of it that is data. */
export interface AnyEndpoint {
  readonly method: Method;
  /** The template as written; in a table with the prefix of the table. */
  readonly path: string;
  /** Dotted, unique in the application; `undefined` where nobody asks for its URL by name. */
  readonly name: string | undefined;
  readonly pages: readonly string[];
}

/** A class, as decorators and the container see it. */
export type AnyClass = abstract new (...args: never[]) => object;

/** A class and what it extends, the base first. */
export function classChain(leaf: AnyClass): readonly AnyClass[] {
  const chain: AnyClass[] = [];
  for (let each: unknown = leaf; hasPrototype(each); each = Object.getPrototypeOf(each)) chain.unshift(each);
  return chain;
}

/** `Function.prototype`, where every chain ends, is a function without a prototype of its own. */
function hasPrototype(value: unknown): value is AnyClass & { readonly prototype: object } {
  return typeof value === "function" && typeof value.prototype === "object" && value.prototype !== null;
}

/** Which methods of a class are decorated with which endpoints: written by the decorators, read when a controller is read. */
export interface EndpointUse {
  readonly endpoint: AnyEndpoint;
  readonly key: string | symbol;
}

/** By prototype, or by class for static methods. */
const uses = new WeakMap<object, EndpointUse[]>();

/** @internal */
export function recordUse(target: object, key: string | symbol, endpoint: AnyEndpoint): void {
  uses.set(target, [...(uses.get(target) ?? []), { endpoint, key }]);
}

/** The uses in a class and those it inherits, base first; a method that is decorated anew has only its new endpoints. */
export function usesOf(controller: AnyClass): readonly EndpointUse[] {
  return inherited(classChain(controller).map(({ prototype }) => prototype));
}

/** The uses on static methods, which no instance can handle. */
export function staticUsesOf(controller: AnyClass): readonly EndpointUse[] {
  return inherited(classChain(controller));
}

function inherited(targets: readonly object[]): readonly EndpointUse[] {
  const byKey = new Map<string | symbol, EndpointUse[]>();
  for (const target of targets) {
    const own = uses.get(target) ?? [];
    for (const { key } of own) byKey.delete(key);
    // Decorators of one method run from the lowest to the uppermost, which is the first to read.
    for (const use of own) byKey.set(use.key, [use, ...(byKey.get(use.key) ?? [])]);
  }
  return [...byKey.values()].flat();
}

/** Tells the compiler a resource from a table, whose methods are not bound by name. Exists in types only; nothing has it. */
declare const resourceMark: unique symbol;

export interface ResourceMark {
  readonly [resourceMark]: true;
}

// The methods a route can answer. `ANY` stands for every method that has no route of its own at the same template; methods without a
// constructor (TRACE, PURGE, …) are reached through it only.

/** In the order in which the constructors are listed: `get post put patch delete head options any`. */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "OPTIONS" | "ANY";

/** A route as data: what it answers and what it is called. Static; nothing of it changes when the application runs. */
export interface RouteDescriptor {
  readonly method: Method;
  /** The template with all prefixes, for example `/teams/{team}/links/{id}`. */
  readonly path: string;
  /** `LinksController.show`; of a function its name, else `anonymous`. */
  readonly handler: string;
  readonly name: string | undefined;
  /** Pages that the handler is declared to answer with. */
  readonly pages: readonly string[];
}

/** How a route is called in messages. */
export function titleOf({ method, path }: Pick<RouteDescriptor, "method" | "path">): string {
  return `${method} ${path}`;
}
