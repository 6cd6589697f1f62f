/**
 * A middleware has one method, `handle(ctx, next)`. A Koa function `(ctx, next)` is accepted in every place of a middleware.
 *
 * A `Layer` is the kind of middleware that the framework itself uses. It is composed once, when the first listener is made, and may be
 * synchronous: a request that waits for nothing makes no promise. Write a `Middleware` unless this speed is needed.
 */
import type { Context } from "./request/context.js";

/**
 * Runs the rest of the chain. Resolves to `undefined`. A second call rejects. The chain waits for a promise that nothing awaits; a
 * promise that you derive from it (`next().then(…)`) is yours to await.
 */
export type Next = () => Promise<void>;

export interface Middleware {
  /** A returned value becomes the response, as from a handler; `undefined` leaves the response as it is. */
  handle(ctx: Context, next: Next): unknown;
}

/** A middleware written for Koa. It gets the framework's context, which has all members of Koa's. */
// The context of a Koa function may have any type, and only `any` accepts all of them.
// oxlint-disable-next-line typescript/no-explicit-any
export type KoaMiddleware = (ctx: any, next: Next) => unknown;

/** A member of a list that `compose` takes. */
export type AnyMiddleware = Middleware | KoaMiddleware;

/** The rest of the chain as one call. Returns `undefined` if it ended synchronously, else a promise. */
export type Run = (ctx: Context) => void | Promise<void>;

/**
 * `wrap` is called once, when the application makes its first listener, and again where `koa.middleware` was changed before another one. The
 * function that it returns is called once for each request.
 */
export abstract class Layer implements Middleware {
  /** Puts this layer around `inner`. The result calls `inner` at most once. */
  abstract wrap(inner: Run): Run;

  /** Runs the layer as a middleware, without composing it. */
  handle(ctx: Context, next: Next): unknown {
    return this.wrap(next)(ctx);
  }
}

/**
 * A layer of a stage. It takes care of every promise of its inner run, and reports a failure that comes too late itself. Therefore the
 * chain does not observe it, as it does the layers of an application.
 */
export abstract class StageLayer extends Layer {}

/** The name of a middleware in events and descriptions: of its class, or of the function. @internal */
export function getMiddlewareName(middleware: object): string {
  const { name } = typeof middleware === "function" ? middleware : middleware.constructor;
  return name === "" ? "anonymous" : name;
}

/** Whether a step of the chain has to be waited for. */
export function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

/** Converts a thenable of unknown origin into a promise: its `then` may forget failures, and may return anything. */
export function toPromise(value: Promise<unknown>): Promise<unknown> {
  return value instanceof Promise ? value : Promise.resolve(value);
}
