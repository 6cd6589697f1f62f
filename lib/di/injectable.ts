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

import { markCopy } from "../errors/copy.js";
import { bareDecorator, isStandardContext, refuseReplaced, requireClass } from "../errors/bare-decorator.js";
import type { InjectionToken } from "./token.js";
import type { AbstractClass } from "../runtime/class.js";
import { createSetupError } from "../errors/setup-error.js";
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

/** Marks a class as built by the container. A decorator that includes this one calls `Injectable()(target, context)`. */
export function Injectable(
  ...none: readonly never[]
): (target: AbstractClass, context?: ClassDecoratorContext) => void {
  if (none.length > 0) throw bareDecorator("Injectable()", none[0]);
  return (target, context) => {
    requireClass("Injectable()", context);
    refuseReplaced(target);
    kinds.set(target, isStandardContext(context) ? "standard" : "legacy");
    markCopy(target);
  };
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
  if (none.length > 0) throw bareDecorator("Inject(token)", token, "constructor");
  return (target, key: unknown, index) => {
    if (typeof target !== "function" || key !== undefined)
      throw createSetupError("E_INJECT_PLACE", formatMisplaced(key));
    const known = injections.get(target) ?? new Map<number, InjectionToken>();
    injections.set(target, known.set(index, token));
  };
}

/** `undefined` for a class without `@Injectable()` and without a decorator that includes it. */
export function findDecoratorKind(target: object): DecoratorKind | undefined {
  return kinds.get(target);
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

function formatMisplaced(key: unknown): string {
  return isStandardContext(key)
    ? `@Inject stands on the ${key.kind} ${String(key.name)}: as a standard decorator it has no place; write inject(Token) as the default of a constructor parameter, or as the value of a field`
    : `@Inject stands on ${String(key)}: it belongs on a parameter of a constructor`;
}
