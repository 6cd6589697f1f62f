/**
 * The names under which things are injected: a class, abstract or not, or a `token` for what has no class at run time
 * (an interface, a string, a function). Prefer an abstract class: it needs no `@Inject` where it is asked for.
 *
 * @example
 * const Greeting = token<string>("greeting");
 * provide(Greeting).useValue("hello");
 * constructor(@Inject(Greeting) private readonly greeting: string) {}
 */

// What the room means by a class: something that can be built, or only named.
// A plain function is not one, so that a list may hold both classes and functions.

/** A class that can be built with `new`. */
export type Class<T = unknown> = new (...parameters: never[]) => T;

/** A class that can be named: abstract or not. One with a private constructor does not fit. */
export type AbstractClass<T = unknown> = abstract new (...parameters: never[]) => T;

/** Whether the value was written as a `class` (or is one of the language's own). Asks the language, not the name. */
export function isClass(value: unknown): value is Class {
  return typeof value === "function" && Object.getOwnPropertyDescriptor(value, "prototype")?.writable === false;
}

/** A name for a value of type T. Two tokens are never the same, whatever they are called. */
export class Token<T> {
  /** Only for the compiler: there is no such property at run time. */
  declare protected readonly type: T;

  constructor(readonly name: string) {}

  toString(): string {
    return `token "${this.name}"`;
  }
}

/** Whatever a provider can be bound to and asked for by. */
export type InjectionToken<T = unknown> = Token<T> | AbstractClass<T>;

/** Makes a token; `name` is for messages only and need not be unique. */
export function token<T>(name: string): Token<T> {
  return new Token<T>(name);
}

export function isInjectionToken(value: unknown): value is InjectionToken {
  return value instanceof Token || isClass(value);
}

/** What messages and graphs call a token, and anything that stands where one belongs. */
export function nameOf(value: unknown): string {
  if (value instanceof Token) return value.name;
  if (typeof value !== "function") return describe(value);
  // A static member may hide the name a class was given.
  return typeof value.name === "string" && value.name !== "" ? value.name : "(anonymous class)";
}

function describe(value: unknown): string {
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
