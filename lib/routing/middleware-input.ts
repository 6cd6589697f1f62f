/** What can stand wherever a middleware is asked for: an instance, a class the container builds, or a function written for Koa. */
import { isClass, nameOf } from "../di/token.js";
import type { KoaMiddleware, Middleware as MiddlewareContract } from "../http/middleware.js";
import type { Finding } from "../errors/diagnostic.js";

/** A class whose instances are middlewares. */
export type MiddlewareClass = abstract new (...args: never[]) => MiddlewareContract;

export type MiddlewareInput = MiddlewareContract | MiddlewareClass | KoaMiddleware;

/** Whether it is any of the three: what is not a plain function has to have `handle`, itself or its instances. */
export function isMiddleware(input: unknown): input is MiddlewareInput {
  if (isClass(input)) return typeof handleOf(input.prototype) === "function";
  return typeof input === "function" || typeof handleOf(input) === "function";
}

/** Whether the container has to build it; a Koa function has no `handle` on its prototype. */
export function isMiddlewareClass(input: MiddlewareInput): input is MiddlewareClass {
  return typeof input === "function" && typeof handleOf(input.prototype) === "function";
}

/** The fault of listing something else. */
export function noMiddleware(input: unknown, where: string): Finding {
  return {
    code: "E_MIDDLEWARE_INVALID",
    what: `${nameOf(input)} is no middleware`,
    where,
    cure: "give a class or an object with handle(ctx, next), or a function; undefined often means that two modules import each other",
  };
}

function handleOf(object: unknown): unknown {
  // Whatever it is, it either has the member or not.
  return (object as { readonly handle?: unknown } | null | undefined)?.handle;
}
