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
import { FrameworkError } from "../errors/framework-error.js";
import { Annotation } from "./reflect.js";
import type { AbstractClass } from "./class.js";
import type { InjectionToken } from "./token.js";

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
