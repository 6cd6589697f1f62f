/** Which middleware stands on which classes and methods: written by the decorator, read when a controller is read. */
import type { AnyClass } from "./any-endpoint.js";
import { classChain } from "./class-chain.js";
import type { MiddlewareInput } from "./middleware-input.js";

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
