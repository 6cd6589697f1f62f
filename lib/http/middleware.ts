/**
 * The one kind of extension there is: `handle(ctx, next)`. A Koa function `(ctx, next)` is accepted wherever a middleware is.
 *
 * A `Layer` is the framework's own kind of middleware: it is composed once, when the application is built, and may stay synchronous
 * from end to end, so that a request that waits for nothing pays for no promise. Write a `Middleware` unless that matters.
 */
import type { Context } from "./context.js";

/** Runs everything further in. Resolves to `undefined`; calling it twice rejects. */
export type Next = () => Promise<void>;

export interface Middleware {
  /** Whatever it returns but `undefined` is the answer, as from a handler. */
  handle(ctx: Context, next: Next): unknown;
}

/** A middleware written for Koa; called with the framework's context, which is one of Koa's. */
// The parameters are Koa's own open-ended ones; `any` is the only type both sides assign to.
// oxlint-disable-next-line typescript/no-explicit-any
export type KoaMiddleware = (ctx: any, next: Next) => unknown;

/** The rest of the chain as one call: `undefined` when it is done at once, a promise when it is not. */
export type Run = (ctx: Context) => void | Promise<void>;

/** A stage of the framework. `wrap` is called once, at `build()`; what it returns is called once a request. */
export abstract class Layer implements Middleware {
  /** Puts this layer around `inner`. The result calls `inner` at most once. */
  abstract wrap(inner: Run): Run;

  /** The layer as a plain middleware, for use by hand. */
  handle(ctx: Context, next: Next): unknown {
    return this.wrap(next)(ctx);
  }
}

/** The name of a middleware in events and descriptions: of its class, or of the function. @internal */
export function middlewareName(middleware: object): string {
  const { name } = typeof middleware === "function" ? middleware : middleware.constructor;
  return name === "" ? "anonymous" : name;
}

/** Whether a step of the chain has to be waited for. */
export function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

/** Somebody's thenable as a promise one can rely on: its own `then` may forget failures, and return anything. */
export function asPromise(value: Promise<unknown>): Promise<unknown> {
  return value instanceof Promise ? value : Promise.resolve(value);
}
