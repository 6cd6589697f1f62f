/**
 * What a call of the builder was given, where a caller without types gives something else that would pass unseen: a number in place of
 * options has none of their names, a word in place of `false` is true, and a function can stand in the chain whatever it is called.
 * What is thrown here becomes a finding of `build()` under the name of the call.
 */
import { nameOf } from "../di/token.js";
import type { Finding } from "../errors/diagnostic.js";

/** What `instanceof` asks; a class with a private constructor is one too. */
type Kind<T> = Function & { readonly prototype: T };

export function instanceOf<T>(kind: Kind<T>, given: T): T {
  if (given instanceof kind) return given;
  throw new TypeError(`${nameOf(given)} is no ${kind.name}`);
}

/** Options that may be left out. */
export function optionsOf<T extends object>(given: T | undefined): T | undefined {
  if (given === undefined || isOptions(given)) return given;
  throw new TypeError(`${nameOf(given)} is no object of options`);
}

export function isOptions(given: unknown): given is object {
  return typeof given === "object" && given !== null && !Array.isArray(given);
}

/** Whether something is on, where only true and false are answers. */
export function checkSwitch(given: unknown, where: string): Finding | undefined {
  if (typeof given === "boolean") return undefined;
  return { code: "E_STAGE", what: `${nameOf(given)} is neither true nor false`, where, cure: "give one of the two" };
}
