/**
 * The types of a handler: a function or method of one argument, the `Context`. Its return value is the response. They tie a handler to its
 * path: a handler that asks for a parameter which its path lacks does not compile.
 */
import type { Context } from "../http/request/context.js";
import type { Names } from "./path.js";

/** A handler as the framework calls it. */
export type Handler = (ctx: Context) => unknown;

/** A handler for a path: it may ask for the captures of the path, or for fewer. */
export type HandlerOf<P extends string> = (ctx: Context<Names<P>>) => unknown;

/** Any function that could be decorated. */
export type AnyHandler = (...args: never[]) => unknown;

/** A class, as decorators and the container see it. */
export type AnyClass = abstract new (...args: never[]) => object;

/**
 * Every type, for a method that fits the path. For other methods it is a type that neither a method nor its descriptor has; the name of its
 * property is the reason.
 */
export type Fits<H extends AnyHandler, P extends string> =
  Handles<H, P> extends true ? unknown : { readonly "handler asks for parameters that this path does not have": P };

/** The same check for the controller of a resource, whose methods are found by their names. A table allows every class. */
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

/** Lets the compiler tell a resource from a table. It exists in types only: no value has it. */
declare const resourceMark: unique symbol;

export interface ResourceMark {
  readonly [resourceMark]: true;
}

/** Compares parameter lists instead of functions: methods are bivariant, and a comparison of them refuses nothing. */
type Handles<H extends AnyHandler, P extends string> =
  Parameters<H> extends [] ? true : [Context<Names<P>>] extends Parameters<H> ? true : false;

/** The methods that do not fit the action of their name, with the path of the action. */
type Misfits<I, T> = { [K in keyof I & keyof T as Misfit<I[K], T[K]> extends true ? K : never]: PathOf<T[K]> };

/** The template of an endpoint. */
export type PathOf<E> = E extends { readonly path: infer P extends string } ? P : never;

type Misfit<H, E> = H extends AnyHandler ? (Handles<H, PathOf<E>> extends true ? false : true) : false;

/** Returns a class and the classes that it extends, the base first. */
export function getClassChain(leaf: AnyClass): readonly AnyClass[] {
  const chain: AnyClass[] = [];
  for (let each: unknown = leaf; hasPrototype(each); each = Object.getPrototypeOf(each)) chain.unshift(each);
  return chain;
}

/** `Function.prototype`, the end of every chain, is a function without a `prototype`. */
function hasPrototype(value: unknown): value is AnyClass & { readonly prototype: object } {
  return typeof value === "function" && typeof value.prototype === "object" && value.prototype !== null;
}
