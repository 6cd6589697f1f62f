/**
 * The methods that a class had when its decorator ran. A standard decorator of a method knows only a function, so what it records must be
 * found after a test or a library has replaced that function on the prototype.
 *
 * @example
 * storeOriginalMethods(Links);
 * Links.prototype.index = wrapped;
 * getOriginalMethod(Links.prototype, "index"); // the first function
 */
import type { AbstractClass } from "./class.js";

const originals = new WeakMap<object, ReadonlyMap<string | symbol, object>>();

/** Stores the methods of a class and of its bases. Those that a base has stored before stay. */
export function storeOriginalMethods(target: AbstractClass): void {
  for (
    let each: unknown = target.prototype;
    typeof each === "object" && each !== null;
    each = Object.getPrototypeOf(each)
  )
    if (!originals.has(each)) originals.set(each, findMethods(each));
}

/** The stored methods and the present ones, without inherited ones. */
export function listMethods(prototype: object): readonly object[] {
  return [...(originals.get(prototype)?.values() ?? []), ...findMethods(prototype).values()];
}

function findMethods(prototype: object): ReadonlyMap<string | symbol, object> {
  const methods = new Map<string | symbol, object>();
  for (const key of Reflect.ownKeys(prototype)) {
    const method = findMethod(prototype, key);
    if (method !== undefined) methods.set(key, method);
  }
  return methods;
}

/** Whether the methods of the prototype are stored. */
export function hasOriginalMethods(prototype: object): boolean {
  return originals.has(prototype);
}

/** The stored method, or the present one of a prototype that has stored none under the name. */
export function getOriginalMethod(prototype: object, key: string | symbol): object | undefined {
  return originals.get(prototype)?.get(key) ?? findMethod(prototype, key);
}

/** Calls no getter. */
function findMethod(holder: object, key: string | symbol): object | undefined {
  const value: unknown = Object.getOwnPropertyDescriptor(holder, key)?.value;
  return typeof value === "function" ? value : undefined;
}
