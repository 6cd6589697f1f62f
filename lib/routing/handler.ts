/**
 * What answers a request: a function or method of one argument, the `Context`, whose return value is the answer.
 * The types here tie a handler to its path, so that one that asks for a parameter which the path lacks does not compile.
 */
import type { Context } from "../http/context.js";
import type { AnyClass } from "./any-endpoint.js";
import type { Names } from "./path-types.js";
import type { ResourceMark } from "./resource-mark.js";

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
