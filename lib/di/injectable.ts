/**
 * `@Injectable()` makes the compiler emit the types of the constructor's parameters, so that the graph can be checked and built.
 * `@Inject(token)` names the token of a parameter whose type is no token: an interface, a string, a function. A class with `@Controller` or
 * `@Module`, and a class without constructor parameters, needs no `@Injectable()`.
 *
 * Only this file reads `design:…`.
 *
 * @example
 * ```ts
 * @Injectable()
 * class Links {
 *   constructor(private readonly store: LinkStore, @Inject(Greeting) private readonly greeting: string) {}
 * }
 * ```
 */

// Declares the names on the global Reflect, also for users of the package.
/// <reference types="reflect-metadata" preserve="true" />

import { hasStandardMethod, markDecorated } from "../errors/copy.js";
import { bareDecorator, recordFactory, requireClass, requireParentheses } from "../errors/bare-decorator.js";
import { isDecoratorCall, isStandardContext, readPlace } from "../errors/decorator-place.js";
import { storeOriginalMethods } from "../runtime/original-methods.js";
import type { InjectionToken } from "./token.js";
import type { AbstractClass, Class } from "../runtime/class.js";
import { createSetupError } from "../errors/setup-error.js";
import { valueText } from "../errors/value-text.js";
// Adds the metadata functions to the global Reflect.
// oxlint-disable-next-line import/no-unassigned-import
import "./tsyringe.cjs";

/**
 * A typed value that a decorator attaches to a class. A child class does not inherit it.
 *
 * @example
 * const prefixes = new Annotation<string>();
 * prefixes.set(LinksController, "/links");
 * prefixes.get(LinksController); // "/links"
 */
export class Annotation<T> {
  private readonly values = new WeakMap<object, T>();

  set(target: object, value: T): void {
    this.values.set(target, value);
  }

  /** The value of this class, not of its parents. */
  get(target: object): T | undefined {
    return this.values.get(target);
  }
}

/** How a compiler calls the decorators of a class. */
export type DecoratorKind = "legacy" | "standard";

const kinds = new Annotation<DecoratorKind>();
const injections = new Annotation<Map<number, InjectionToken>>();

/**
 * Marks a class as built by the container. A decorator that includes this one calls `Injectable()(target, context)`; a class may have several
 * of them.
 *
 * @throws FrameworkError `E_DECORATOR_CALL` without parentheses and with arguments, `E_DECORATOR_KIND` above anything but a class
 */
export function Injectable(
  ...none: readonly never[]
): (target: AbstractClass, context?: ClassDecoratorContext) => void {
  requireParentheses("Injectable()", ["class"], none[0], none.slice(1));
  if (none.length > 0)
    throw createSetupError("E_DECORATOR_CALL", "@Injectable takes no arguments: write @Injectable()");
  return (target, ...rest: readonly unknown[]) => {
    requireClass("Injectable()", target, rest);
    markInjectable(target, rest);
  };
}

/** For decorators that include `@Injectable()`. @param rest of the arguments of their call */
export function markInjectable(target: AbstractClass, [context]: readonly unknown[]): void {
  kinds.set(target, isStandardContext(context) ? "standard" : "legacy");
  // The records of standard decorators belong to the functions that the prototype has now.
  if (isStandardContext(context)) storeOriginalMethods(target);
  markDecorated(target, valueText(target));
}

/**
 * Names the token of a constructor parameter. The parameter's type is not used, and the compiler cannot compare the two: keep them equal.
 *
 * @throws FrameworkError `E_INJECT_PLACE` unless it decorates a constructor parameter.
 */
export function Inject<T>(
  token: InjectionToken<T>,
  ...none: readonly never[]
): (target: object, key: undefined, index: number) => void {
  if (isDecoratorCall(token, none)) {
    requireParameter(token, none);
    throw bareDecorator("Inject(token)", ["parameter"], token, none);
  }
  const decorator = (target: object, ...rest: readonly unknown[]): void => {
    const index = requireParameter(target, rest);
    markDecorated(target, valueText(target));
    const known = injections.get(target) ?? new Map<number, InjectionToken>();
    injections.set(target, known.set(index, token));
  };
  return recordFactory(decorator, "Inject(token)", ["parameter"], token);
}

/**
 * `undefined` for a class without `@Injectable()` and without a decorator that includes it, unless a method shows that its compiler calls
 * standard decorators.
 */
export function findDecoratorKind(target: Class): DecoratorKind | undefined {
  return kinds.get(target) ?? (hasStandardMethod(target) ? "standard" : undefined);
}

/** The tokens of `@Inject` on the constructor that this class declares, by index from 0. */
export function getInjections(target: object): ReadonlyMap<number, InjectionToken> {
  return injections.get(target) ?? new Map<number, InjectionToken>();
}

/**
 * The run-time types of the parameters of the constructor that this class declares, in order. `undefined` where the compiler emitted none:
 * the class declares no constructor, or has no decorator, or its compiler drops the metadata.
 */
export function getConstructorTypes(target: object): readonly unknown[] | undefined {
  const types: unknown = Reflect.getOwnMetadata("design:paramtypes", target);
  return Array.isArray(types) ? types : undefined;
}

/** Returns the index of the parameter, from 0. */
function requireParameter(target: unknown, rest: readonly unknown[]): number {
  const [context, index] = rest;
  const { kind, text } = readPlace(target, rest);
  if (kind === "parameter" && typeof index === "number") return index;
  const reason = isStandardContext(context)
    ? "as a standard decorator it has no place; write inject(Token) as the default of a constructor parameter, or as the value of a field"
    : "it belongs on a parameter of a constructor";
  throw createSetupError("E_INJECT_PLACE", `@Inject stands ${text}: ${reason}`);
}
