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

/** The types of an endpoint that a handler has to fit. */
export interface HandledTypes {
  readonly path: string;
  readonly "~context": unknown;
  readonly "~returns": unknown;
}

/**
 * Every type, for a method that fits the endpoint. For other methods it is a text, which neither a method nor its descriptor is: the
 * compiler ends its message with it.
 */
export type Fits<H extends AnyHandler, E extends HandledTypes> =
  Parameters<H> extends []
    ? FitsReturn<ReturnType<H>, E>
    : [E["~context"]] extends Parameters<H>
      ? FitsReturn<ReturnType<H>, E>
      : ContextFault<E>;

/** @typeParam C the context that a handler asks for */
export type FitsContext<C, E extends HandledTypes> = [E["~context"]] extends [C] ? unknown : ContextFault<E>;

type ContextFault<E extends HandledTypes> =
  `the handler asks for values that the path ${E["path"]}, its schemas and its guards do not give`;

/** @typeParam R the value that a handler returns, or a promise of it */
export type FitsReturn<R, E extends HandledTypes> =
  Awaited<R> extends E["~returns"]
    ? unknown
    : `the handler returns a value or a status that the responses of ${E["path"]} do not declare`;

/** `FitsReturn` for a type that is added to the result: a number is no text, so a text would leave nothing of both. */
export type FitsResult<R, E extends HandledTypes> =
  FitsReturn<R, E> extends infer Fault extends string
    ? R extends object | string
      ? Fault
      : { readonly [K in Fault]: true }
    : unknown;

/** The same check for the controller of a resource, whose methods are found by their names. A table allows every class. */
export type FitsTable<C extends AnyClass, T extends object> = T extends ResourceMark
  ? Misfits<InstanceType<C>, T> extends infer Wrong
    ? keyof Wrong extends never
      ? unknown
      : {
          // Written out, so that the compiler prints the actions and their paths instead of the name of a type.
          readonly "handler asks for values that the path and the guards of its action do not give": {
            [K in keyof Wrong]: Wrong[K];
          };
        }
    : never
  : unknown;

/** The same for several tables. */
export type FitsTables<C extends AnyClass, Tables extends readonly object[]> = Tables extends readonly [
  infer T extends object,
  ...infer Rest extends readonly object[],
]
  ? FitsTable<C, T> & FitsTables<C, Rest>
  : unknown;

/** Lets the compiler tell a resource from a table. It exists in types only: no value has it. */
declare const resourceMark: unique symbol;

export interface ResourceMark {
  readonly [resourceMark]: true;
}

/** The methods that do not fit the action of their name, with the path of the action. */
type Misfits<I, T> = { [K in keyof I & keyof T as Misfit<I[K], T[K]> extends true ? K : never]: PathOf<T[K]> };

/** The template of an endpoint. */
type PathOf<E> = E extends { readonly path: infer P extends string } ? P : never;

type Misfit<H, E> = H extends AnyHandler
  ? E extends HandledTypes
    ? Fits<H, E> extends string
      ? true
      : false
    : false
  : false;

/** A handler of an entry of a table without a class. */
export type EndpointHandler<E> = E extends HandledTypes
  ? (ctx: E["~context"]) => E["~returns"] | Promise<E["~returns"]>
  : never;

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
