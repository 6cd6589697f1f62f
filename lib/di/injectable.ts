/**
 * `@Injectable()` makes the compiler keep the types of the constructor's parameters, so that the graph can be checked and built;
 * `@Inject(token)` names what a parameter's type cannot: an interface, a string, a function. Classes decorated with `@Controller` or
 * `@Module` need no `@Injectable()`, and neither does a class whose constructor takes nothing.
 *
 * @example
 * ```ts
 * @Injectable()
 * class Links {
 *   constructor(private readonly store: LinkStore, @Inject(Greeting) private readonly greeting: string) {}
 * }
 * ```
 */

// The polyfill has nothing to import: it completes the global Reflect.
// oxlint-disable-next-line import/no-unassigned-import
import "reflect-metadata";
import type { Class, AbstractClass, InjectionToken } from "./token.js";
import { FrameworkError } from "../errors/framework-error.js";

// The one door to what decorators and the compiler leave on a class: `reflect-metadata` is imported here and nowhere else, and nobody
// else reads `design:…`. A reader for another kind of metadata (standard decorators) would be added in this file alone.
//
// Whatever builds instances takes `construct` from here, which makes sure that this file is loaded before tsyringe, however the package is
// bundled.

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

const decorated = new Annotation<true>();
const injections = new Annotation<Map<number, InjectionToken>>();

/** Marks a class as built by the container. A decorator of another room that does the same calls `Injectable()(target)`. */
export function Injectable(): (target: AbstractClass) => void {
  return (target) => decorated.set(target, true);
}

/**
 * Names what a constructor parameter is given, whatever its type. The compiler cannot compare the two: keep them side by side.
 *
 * @throws FrameworkError `E_INJECT_PLACE` when it stands anywhere but on a constructor parameter.
 */
export function Inject<T>(token: InjectionToken<T>): (target: object, key: undefined, index: number) => void {
  return (target, key: unknown, index) => {
    if (typeof target !== "function" || key !== undefined) throw misplaced(key);
    const known = injections.of(target) ?? new Map<number, InjectionToken>();
    injections.set(target, known.set(index, token));
  };
}

/** Whether the class carries `@Injectable()` or a decorator that includes it. */
export function isInjectable(target: object): boolean {
  return decorated.of(target) === true;
}

/** What `@Inject` says about this class's own constructor, by index from 0. */
export function injectionsOf(target: object): ReadonlyMap<number, InjectionToken> {
  return injections.of(target) ?? new Map<number, InjectionToken>();
}

function misplaced(key: unknown): FrameworkError {
  return new FrameworkError(`@Inject stands on ${String(key)}: it belongs on a parameter of a constructor`, {
    code: "E_INJECT_PLACE",
  });
}
