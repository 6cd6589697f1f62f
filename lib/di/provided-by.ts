/**
 * How an application provides a class of the framework: by a list of bindings, or by a call of the builder. The class has it as a static
 * member, and the fix of a missing provider names it, because the class itself in a list of providers is abstract, or only asks for the next
 * one.
 *
 * @example
 * static readonly [PROVIDED_BY] = "...authDatabase(AppDatabase)";
 * static readonly [PROVIDED_BY] = ".session(config)";
 */
import { isClass } from "../runtime/class.js";
import type { InjectionToken } from "./token.js";

/** The static member. */
export const PROVIDED_BY: unique symbol = Symbol("provided by");

/** The fix of a missing provider; `undefined` for a class of the application, also for one that extends a class of the framework. */
export function findProvidingFix(token: InjectionToken, home: string): string | undefined {
  if (!isClass(token) || !Object.hasOwn(token, PROVIDED_BY)) return undefined;
  const way = String(Reflect.get(token, PROVIDED_BY));
  return way.startsWith("...") ? `add ${way} to the providers of ${home}` : `call ${way} on the application's builder`;
}

/** Whether a fix is one of `findProvidingFix`. */
export function isProvidingFix(fix: string): boolean {
  return /^(?:add \.\.\.|call \.)/.test(fix);
}
