/**
 * Middleware of controllers: `@Middleware(...)` on a method reaches that route, on a class every route of the class. It runs after the
 * match, inside the middleware of the module, and never on 404, 405 or the answer to OPTIONS. The interface of the same name is what
 * a middleware is; `middleware(fn)` makes a class of a function.
 *
 * @example
 * @Injectable()
 * class SignedIn implements Middleware {
 *   constructor(private readonly users: Users) {}
 *   handle(ctx: Context, next: Next) { return this.users.knows(ctx) ? next() : Reply.empty(401); }
 * }
 *
 * @links.create
 * @Middleware(SignedIn)
 * async create(ctx: Context) { … }
 */
import type { Context } from "../http/context.js";
import { FrameworkError } from "../errors/framework-error.js";
import type { KoaMiddleware, Middleware as MiddlewareContract, Next } from "../http/middleware.js";
import type { MiddlewareInput } from "./middleware-input.js";
import { recordMiddleware } from "./middleware-use.js";

/** `handle(ctx, next)`; whatever it returns but `undefined` is the answer, as from a handler. */
export type Middleware = MiddlewareContract;

/**
 * Decorates a method or a class. The first in the list, or the uppermost decorator, is the outermost. Classes are built by the
 * application's container, one instance an application.
 */
export function Middleware(
  ...middleware: readonly MiddlewareInput[]
): (target: object, key?: string | symbol, descriptor?: PropertyDescriptor) => void {
  return (target, key) => recordMiddleware(target, key, middleware);
}

/** A class of middlewares without dependencies. */
export type PlainMiddlewareClass = new () => MiddlewareContract;

/**
 * A middleware class from a function, named after it, or as given, in PascalCase: `signedIn` becomes `SignedIn`.
 * Throws `E_MIDDLEWARE_NAME` for a function without a name, where none is given.
 */
export function middleware(handle: (ctx: Context, next: Next) => unknown, name?: string): PlainMiddlewareClass;
export function middleware(handle: KoaMiddleware, name?: string): PlainMiddlewareClass;
export function middleware(handle: KoaMiddleware, name = handle.name): PlainMiddlewareClass {
  const pascal = pascalCase(name);
  if (pascal === "") {
    const detail = `a middleware needs a name to be found by: write middleware(fn, "SignedIn"), or name the function`;
    throw new FrameworkError(detail, { code: "E_MIDDLEWARE_NAME" });
  }
  const Named = class implements MiddlewareContract {
    handle(ctx: Context, next: Next): unknown {
      return handle(ctx, next);
    }
  };
  Object.defineProperty(Named, "name", { value: pascal });
  return Named;
}

function pascalCase(name: string): string {
  const words = name.split(/[^A-Za-z0-9]+/);
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}
