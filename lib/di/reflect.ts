/**
 * The one door to what decorators and the compiler leave on a class: `reflect-metadata` is imported here and nowhere else, and nobody
 * else reads `design:…`. A reader for another kind of metadata (standard decorators) would be added in this file alone.
 *
 * Whatever builds instances takes `construct` from here, which makes sure that this file is loaded before tsyringe, however the package is
 * bundled.
 */
// The polyfill has nothing to import: it completes the global Reflect.
// oxlint-disable-next-line import/no-unassigned-import
import "reflect-metadata";
import type { Class } from "./class.js";

/**
 * The run-time types of the parameters of this class's own constructor, in order; `undefined` where the compiler left none: the class
 * has no constructor of its own, or no decorator, or was compiled by a tool that drops them.
 */
export function constructorTypes(target: object): readonly unknown[] | undefined {
  const types: unknown = Reflect.getOwnMetadata("design:paramtypes", target);
  return Array.isArray(types) ? types : undefined;
}

/** `new target(...parameters)` for parameters whose types were checked by other means. */
export function construct(target: Class, parameters: readonly unknown[]): unknown {
  return Reflect.construct(target, parameters);
}

/**
 * A typed note that a decorator leaves on a class. Notes are not inherited: each class speaks for itself.
 *
 * @example
 * const prefixes = new Annotation<string>();
 * prefixes.set(LinksController, "/links");
 * prefixes.of(LinksController); // "/links"
 */
export class Annotation<T> {
  private readonly notes = new WeakMap<object, T>();

  set(target: object, note: T): void {
    this.notes.set(target, note);
  }

  /** The note on this very class. */
  of(target: object): T | undefined {
    return this.notes.get(target);
  }
}
