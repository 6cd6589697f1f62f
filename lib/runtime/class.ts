/**
 * Classes as values: their types, and how to tell a class from a function. A token of injection may be more than a class: see
 * `di/token.ts`.
 */

/** A class that can be built with `new`. */
export type Class<T = unknown> = new (...parameters: never[]) => T;

/** A class, abstract or not. A class with a private constructor does not fit. */
export type AbstractClass<T = unknown> = abstract new (...parameters: never[]) => T;

/** Whether the value is a `class`, built-in classes included. A plain function is not a class, so a list may have both. */
export function isClass(value: unknown): value is Class {
  return typeof value === "function" && Object.getOwnPropertyDescriptor(value, "prototype")?.writable === false;
}
