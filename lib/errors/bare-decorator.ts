/**
 * Refuses a decorator that is written without parentheses: its factory then gets the decorated class or member as its arguments, and the
 * class silently loses its decorator or is replaced by a function. Refuses also a decorator above a member of another kind, and the same
 * decorator twice above one class. The compiler finds most of it; other tools do not check types.
 */
import type { FrameworkError } from "./framework-error.js";
import { isClass } from "../runtime/class.js";
import { type DecoratorPlace, isDecoratorCall, type PlaceKind, readPlace } from "./decorator-place.js";
import { createSetupError } from "./setup-error.js";

/** Where a decorator belongs. */
export type Needed = readonly Exclude<PlaceKind, "other">[];

const WORDS = {
  class: "above a class",
  method: "above a public instance method",
  parameter: "on a parameter of a constructor",
} as const;

/**
 * @param decorator with the arguments that it needs: `Module({ … })`
 * @param first of the factory; a class is never correct there
 * @param rest of the arguments
 * @throws FrameworkError `E_DECORATOR_CALL` if the arguments are those of a decorator
 */
export function requireParentheses(decorator: string, needed: Needed, first: unknown, rest: readonly unknown[]): void {
  if (isClass(first) || isDecoratorCall(first, rest)) throw bareDecorator(decorator, needed, first, rest);
}

/** The error of a factory that got the arguments of a decorator. */
export function bareDecorator(
  decorator: string,
  needed: Needed,
  first: unknown,
  rest: readonly unknown[],
): FrameworkError {
  return createSetupError("E_DECORATOR_CALL", formatBareText(decorator, needed, readPlace(first, rest)));
}

function formatBareText(decorator: string, needed: Needed, place: DecoratorPlace): string {
  const where = fits(needed, place) ? "" : ` ${formatNeeded(needed)}`;
  return `@${getName(decorator)} stands ${place.text} without parentheses: write @${decorator}${where}`;
}

function getName(decorator: string): string {
  return decorator.slice(0, decorator.indexOf("("));
}

function fits(needed: Needed, { kind }: DecoratorPlace): boolean {
  return needed.some((each) => each === kind);
}

function formatNeeded(needed: Needed): string {
  return needed.map((kind) => WORDS[kind]).join(" or ");
}

/**
 * @param decorator as it is written: `Get("/")`
 * @throws FrameworkError `E_DECORATOR_KIND` if it stands anywhere else
 */
export function requirePlace(
  decorator: string,
  needed: Needed,
  target: unknown,
  rest: readonly unknown[],
): DecoratorPlace {
  const place = readPlace(target, rest);
  if (fits(needed, place)) return place;
  throw createSetupError("E_DECORATOR_KIND", `@${decorator} stands ${place.text}: it belongs ${formatNeeded(needed)}`);
}

const decorated = new WeakMap<object, ReadonlySet<string>>();

/**
 * @param decorator as it is written: `Module({ … })`
 * @throws FrameworkError `E_DECORATOR_KIND` above anything but a class
 */
export function requireClass(decorator: string, target: object, rest: readonly unknown[]): DecoratorPlace {
  const place = requirePlace(decorator, ["class"], target, rest);
  refuseReplaced(target);
  return place;
}

/**
 * For a decorator whose second call would replace what the first one said.
 *
 * @throws FrameworkError as `requireClass`, and `E_DECORATOR_REPEATED` if the class has the decorator
 */
export function requireClassOnce(decorator: string, target: object, rest: readonly unknown[]): void {
  const { text } = requireClass(decorator, target, rest);
  const known = decorated.get(target) ?? new Set<string>();
  if (known.has(decorator))
    throw createSetupError("E_DECORATOR_REPEATED", `@${getName(decorator)} stands twice ${text}: write it once`);
  decorated.set(target, new Set([...known, decorator]));
}

/** The message for each function that may replace a class. */
const replaced = new WeakMap<object, () => string>();

/**
 * Records the function that a factory returns, if the argument of the factory is a class. A call with a class is correct for such a
 * factory, so the mistake can be found only where the function is used in place of the class.
 */
export function recordFactory<F extends object>(factory: F, decorator: string, needed: Needed, target: unknown): F {
  if (isClass(target)) replaced.set(factory, () => formatBareText(decorator, needed, readPlace(target, [])));
  return factory;
}

/** The message for a function that replaces a class; `undefined` for any other value. */
export function describeBareUse(value: unknown): string | undefined {
  return typeof value === "function" ? replaced.get(value)?.() : undefined;
}

/** @throws FrameworkError `E_DECORATOR_CALL` if a bare decorator below this one has replaced the class */
function refuseReplaced(target: unknown): void {
  const message = describeBareUse(target);
  if (message !== undefined) throw createSetupError("E_DECORATOR_CALL", message);
}
