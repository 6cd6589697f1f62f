/** A class and what it extends, the base first. */
import type { AnyClass } from "./any-endpoint.js";

export function classChain(leaf: AnyClass): readonly AnyClass[] {
  const chain: AnyClass[] = [];
  for (let each: unknown = leaf; hasPrototype(each); each = Object.getPrototypeOf(each)) chain.unshift(each);
  return chain;
}

/** `Function.prototype`, where every chain ends, is a function without a prototype of its own. */
function hasPrototype(value: unknown): value is AnyClass & { readonly prototype: object } {
  return typeof value === "function" && typeof value.prototype === "object" && value.prototype !== null;
}
