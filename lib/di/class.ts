/**
 * What the room means by a class: something that can be built, or only named.
 * A plain function is not one, so that a list may hold both classes and functions.
 */

/** A class that can be built with `new`. */
export type Class<T = unknown> = new (...parameters: never[]) => T;

/** A class that can be named: abstract or not. One with a private constructor does not fit. */
export type AbstractClass<T = unknown> = abstract new (...parameters: never[]) => T;

/** Whether the value was written as a `class` (or is one of the language's own). Asks the language, not the name. */
export function isClass(value: unknown): value is Class {
  return typeof value === "function" && Object.getOwnPropertyDescriptor(value, "prototype")?.writable === false;
}
