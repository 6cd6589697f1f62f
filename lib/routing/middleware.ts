/**
 * Middleware of controllers: `@Middleware(...)` on a method covers that route, on a class every route of the class. It runs after the
 * match, inside the middleware of the module, and never on 404, 405 or the response to OPTIONS. The interface of the same name is the
 * contract of a middleware; `middleware(fn)` converts a function into a class.
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
import { bareDecorator, describeBareUse, type Needed, recordFactory, requirePlace } from "../errors/bare-decorator.js";
import { isDecoratorCall } from "../errors/decorator-place.js";
import { markDecorated } from "../errors/copy.js";
import { describeToken } from "../di/token.js";
import { isClass } from "../runtime/class.js";
import type { Diagnostic } from "../errors/diagnostic.js";
import type { Context } from "../http/request/context.js";
import type { KoaMiddleware, Middleware as MiddlewareContract, Next } from "../http/middleware.js";
import { getClassChain, type AnyClass, type AnyHandler } from "../endpoints/handler.js";
import { MethodRecords, toDecoratedMethod } from "../endpoints/method-records.js";
import { createSetupError } from "../errors/setup-error.js";
import { valueText } from "../errors/value-text.js";

/** `handle(ctx, next)`. A returned value other than `undefined` is the response, as from a handler. */
export type Middleware = MiddlewareContract;

/** A class whose instances are middleware. The container creates one instance. */
export type MiddlewareClass = abstract new (...args: never[]) => MiddlewareContract;

/** Accepted wherever a middleware is: an instance, a class for the container, or a function written for Koa. */
export type MiddlewareInput = MiddlewareContract | MiddlewareClass | KoaMiddleware;

/** The standard kind of call comes first, as in `Endpoint`. */
export interface MiddlewareDecorator {
  (target: object, context: ClassDecoratorContext | ClassMethodDecoratorContext): void;
  (target: AnyClass): void;
  <H extends AnyHandler>(target: object, key: string | symbol, descriptor: TypedPropertyDescriptor<H>): void;
}

const PLACES: Needed = ["class", "method"];

/**
 * Decorates a method or a class. The first in the list, or the uppermost decorator, is the outermost. The container of the application
 * creates one instance of each class.
 */
export function Middleware(...middleware: readonly MiddlewareInput[]): MiddlewareDecorator {
  const [target, ...none] = middleware as readonly unknown[];
  // The arguments of a decorator on a method are an object, a name and a descriptor. A name is never middleware.
  if (isDecoratorCall(target, none)) throw bareDecorator("Middleware(SignedIn)", PLACES, target, none);
  const decorator = (decorated: object, ...rest: readonly unknown[]): void => {
    if (requirePlace("Middleware(…)", PLACES, decorated, rest).kind === "class") {
      markDecorated(decorated, valueText(decorated));
      const prototype = getPrototype(decorated);
      ofClasses.set(prototype, [...middleware, ...(ofClasses.get(prototype) ?? [])]);
    } else ofMethods.add(toDecoratedMethod("Middleware(…)", decorated, rest), middleware);
  };
  return recordFactory(decorator, "Middleware(SignedIn)", PLACES, target);
}

/** Code without types may call the decorator with a function that has none. */
function getPrototype(decorated: object): object {
  const { prototype = decorated } = decorated as { readonly prototype?: object };
  return prototype;
}

/** A middleware class without dependencies. */
export type PlainMiddlewareClass = new () => MiddlewareContract;

/**
 * Creates a middleware class from a function. Its name is the given name, or that of the function, in PascalCase: `signedIn` becomes
 * `SignedIn`. Throws `E_MIDDLEWARE_NAME` where there is neither.
 */
export function middleware(handle: (ctx: Context, next: Next) => unknown, name?: string): PlainMiddlewareClass;
export function middleware(handle: KoaMiddleware, name?: string): PlainMiddlewareClass;
export function middleware(handle: KoaMiddleware, name = handle.name): PlainMiddlewareClass {
  const pascal = toPascalCase(name);
  if (pascal === "") {
    const detail = `a middleware needs a name to be found by: write middleware(fn, "SignedIn"), or name the function`;
    throw createSetupError("E_MIDDLEWARE_NAME", detail);
  }
  const Named = class implements MiddlewareContract {
    handle(ctx: Context, next: Next): unknown {
      return handle(ctx, next);
    }
  };
  Object.defineProperty(Named, "name", { value: pascal });
  functions.set(Named, handle);
  return Named;
}

/** The functions of the classes that `middleware(fn)` returned. */
const functions = new WeakMap<object, KoaMiddleware>();

/** The function that the program wrote for a middleware, for the command. */
export function getWrittenMiddleware(input: MiddlewareInput): unknown {
  return functions.get(input) ?? getHandle(isMiddlewareClass(input) ? input.prototype : input) ?? input;
}

function toPascalCase(name: string): string {
  const words = name.split(/[^A-Za-z0-9]+/);
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

/** By prototype, because a decorator above may replace the class by a proxy, which has the same prototype. */
const ofClasses = new WeakMap<object, readonly MiddlewareInput[]>();
const ofMethods = new MethodRecords<readonly MiddlewareInput[]>();

/** Returns the middleware of a class and of its bases, the base outermost. */
export function getClassMiddleware(controller: AnyClass): readonly MiddlewareInput[] {
  return getClassChain(controller).flatMap(({ prototype }) => ofClasses.get(prototype) ?? []);
}

/** Returns the middleware of a method and of the methods that it overrides, the base outermost. */
export function getMethodMiddleware(controller: AnyClass, key: string | symbol): readonly MiddlewareInput[] {
  // Decorators run from the lowest to the uppermost, and the uppermost is the outermost.
  return getClassChain(controller).flatMap(({ prototype }) => ofMethods.getOwn(prototype, key).toReversed().flat());
}

/** Returns the names of the methods with middleware that the prototype itself declares. */
export function listMethodsWithMiddleware(prototype: object): readonly (string | symbol)[] {
  return [...ofMethods.getInherited([prototype]).keys()];
}

/** Whether a value is middleware: a class or an object has `handle`, a function needs none. */
export function isMiddleware(input: unknown): input is MiddlewareInput {
  if (describeBareUse(input) !== undefined) return false;
  if (isClass(input)) return typeof getHandle(input.prototype) === "function";
  return typeof input === "function" || typeof getHandle(input) === "function";
}

/** Whether the container has to create the instance. A function written for Koa has no `handle` on its prototype. */
export function isMiddlewareClass(input: MiddlewareInput): input is MiddlewareClass {
  return typeof input === "function" && typeof getHandle(input.prototype) === "function";
}

/** Returns the diagnostic for a value in a list of middleware that is not middleware. */
export function describeInvalidMiddleware(input: unknown, where: string): Diagnostic {
  const what = describeBareUse(input) ?? `${describeToken(input)} is not middleware`;
  return { code: "E_MIDDLEWARE_INVALID", what, where, fix: MIDDLEWARE_FIX };
}

export const MIDDLEWARE_FIX =
  "give a class or an object with handle(ctx, next), or a function; undefined often means that two modules import each other";

function getHandle(value: unknown): unknown {
  // Reading the member is safe for any value except undefined and null.
  return (value as { readonly handle?: unknown } | null | undefined)?.handle;
}

/** Returns the one instance of a class: from the application's container, or by plain construction where there is no application. */
export type GetInstance = <T extends object>(target: abstract new (...args: never[]) => T) => T;

/** Creates each class once, without arguments. Throws `E_MIDDLEWARE_INJECTION` for a class whose constructor has parameters. */
export function createInstanceCache(): GetInstance {
  const instances = new Map<AnyClass, object>();
  return <T extends object>(target: abstract new (...args: never[]) => T): T => {
    const instance = instances.get(target) ?? construct(target);
    instances.set(target, instance);
    // The map has the instance of each class under that class.
    return instance as T;
  };
}

function construct(target: AnyClass): object {
  if (target.length > 0) {
    const detail = `${target.name} has constructor parameters, which only an application's container can fill`;
    throw createSetupError("E_MIDDLEWARE_INJECTION", detail);
  }
  return Reflect.construct(target, []);
}
