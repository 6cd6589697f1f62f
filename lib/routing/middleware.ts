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
import { type AnyClass, classChain } from "./handler.js";
import type { Context } from "../http/context.js";
import { FrameworkError } from "../errors/framework-error.js";
import type { KoaMiddleware, Middleware as MiddlewareContract, Next } from "../http/middleware.js";
import { isClass, nameOf } from "../di/token.js";
import type { Diagnostic } from "../errors/diagnostic.js";

/** Which middleware stands on which classes and methods: written by the decorator, read when a controller is read. */
type ByKey = Map<string | symbol | undefined, readonly MiddlewareInput[]>;

/** By class for the class itself (no key), by prototype for its methods. */
const uses = new WeakMap<object, ByKey>();

/** Decorators run from the lowest to the uppermost, so each goes in front of those before it. @internal */
export function recordMiddleware(
  target: object,
  key: string | symbol | undefined,
  middleware: readonly MiddlewareInput[],
): void {
  const byKey: ByKey = uses.get(target) ?? new Map();
  byKey.set(key, [...middleware, ...(byKey.get(key) ?? [])]);
  uses.set(target, byKey);
}

/** What stands on a class and on those it extends, the base outermost. */
export function classMiddleware(controller: AnyClass): readonly MiddlewareInput[] {
  return classChain(controller).flatMap((each) => uses.get(each)?.get(undefined) ?? []);
}

/** What stands on a method, there and where it overrides another, the base outermost. */
export function methodMiddleware(controller: AnyClass, key: string | symbol): readonly MiddlewareInput[] {
  return classChain(controller).flatMap(({ prototype }) => uses.get(prototype)?.get(key) ?? []);
}

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

// What can stand wherever a middleware is asked for: an instance, a class the container builds, or a function written for Koa.

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
export function noMiddleware(input: unknown, where: string): Diagnostic {
  return {
    code: "E_MIDDLEWARE_INVALID",
    what: `${nameOf(input)} is no middleware`,
    where,
    fix: "give a class or an object with handle(ctx, next), or a function; undefined often means that two modules import each other",
  };
}

function handleOf(object: unknown): unknown {
  // Whatever it is, it either has the member or not.
  return (object as { readonly handle?: unknown } | null | undefined)?.handle;
}

/** From a class to its one instance: the application's container, or plain construction where there is no application. */
export type InstanceOf = <T extends object>(made: abstract new (...args: never[]) => T) => T;

/** Builds each class once, without arguments; throws `E_MIDDLEWARE_INJECTION` for one whose constructor wants some. */
export function constructing(): InstanceOf {
  const instances = new Map<AnyClass, object>();
  return <T extends object>(made: abstract new (...args: never[]) => T): T => {
    const known = instances.get(made) ?? construct(made);
    instances.set(made, known);
    // The map holds under each class what that class has constructed.
    return known as T;
  };
}

function construct(made: AnyClass): object {
  if (made.length > 0) {
    const detail = `${made.name} has constructor parameters, which only an application's container can fill`;
    throw new FrameworkError(detail, { code: "E_MIDDLEWARE_INJECTION" });
  }
  return Reflect.construct(made, []);
}
