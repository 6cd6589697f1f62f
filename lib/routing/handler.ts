/**
 * What answers a request: a function or method of one argument, the `Context`, whose return value is the answer.
 * The types here tie a handler to its path, so that one that asks for a parameter which the path lacks does not compile.
 */
import type { Context } from "../kernel/context.js";
import type { Names } from "./path-types.js";

/** A handler as it is called. */
export type Handler = (ctx: Context) => unknown;

/** A handler for a path: it may ask for the captures of the path, or for fewer. */
export type HandlerOf<P extends string> = (ctx: Context<Names<P>>) => unknown;

/** Any function that could be decorated. */
export type AnyHandler = (...args: never[]) => unknown;

/**
 * The method's descriptor where the method can handle the path, else a type no descriptor has, whose property says why.
 * The check sits on the descriptor: a bound on the method alone is bivariant and catches nothing.
 */
export type Fits<H extends AnyHandler, P extends string> =
  [Context<Names<P>>] extends Parameters<H>
    ? TypedPropertyDescriptor<H>
    : Parameters<H> extends []
      ? TypedPropertyDescriptor<H>
      : { readonly "handler asks for parameters that this path does not have": P };
