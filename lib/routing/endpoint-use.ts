/** Which methods of a class are decorated with which endpoints: written by the decorators, read when a controller is read. */
import type { AnyClass, AnyEndpoint } from "./any-endpoint.js";
import { classChain } from "./class-chain.js";

export interface EndpointUse {
  readonly endpoint: AnyEndpoint;
  readonly key: string | symbol;
}

/** By prototype, or by class for static methods. */
const uses = new WeakMap<object, EndpointUse[]>();

/** @internal */
export function recordUse(target: object, key: string | symbol, endpoint: AnyEndpoint): void {
  uses.set(target, [...(uses.get(target) ?? []), { endpoint, key }]);
}

/** The uses in a class and those it inherits, base first; a method that is decorated anew has only its new endpoints. */
export function usesOf(controller: AnyClass): readonly EndpointUse[] {
  return inherited(classChain(controller).map(({ prototype }) => prototype));
}

/** The uses on static methods, which no instance can handle. */
export function staticUsesOf(controller: AnyClass): readonly EndpointUse[] {
  return inherited(classChain(controller));
}

function inherited(targets: readonly object[]): readonly EndpointUse[] {
  const byKey = new Map<string | symbol, EndpointUse[]>();
  for (const target of targets) {
    const own = uses.get(target) ?? [];
    for (const { key } of own) byKey.delete(key);
    // Decorators of one method run from the lowest to the uppermost, which is the first to read.
    for (const use of own) byKey.set(use.key, [use, ...(byKey.get(use.key) ?? [])]);
  }
  return [...byKey.values()].flat();
}
