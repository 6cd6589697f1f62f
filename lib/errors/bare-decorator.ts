/**
 * Refuses a decorator that is written without parentheses, or called as a standard decorator. Its factory then gets the decorated class or
 * member as its arguments, and the class silently loses its decorator or is replaced by a function. The compiler refuses this; other tools
 * do not check it.
 */
import type { FrameworkError } from "./framework-error.js";
import { isClass, type Class } from "../runtime/class.js";
import { createSetupError } from "./setup-error.js";
import { valueText } from "./value-text.js";

/**
 * @param decorator with the arguments that it needs: `Module({ … })`
 * @param target the class, or the prototype of a member
 */
export function bareDecorator(decorator: string, target: unknown, key?: unknown): FrameworkError {
  const className = typeof target === "function" ? valueText(target) : valueText(Object(target).constructor);
  const place = isStandardContext(key)
    ? String(key.name)
    : key === undefined
      ? className
      : `${className}.${valueText(key)}`;
  return createSetupError("E_DECORATOR_CALL", formatBareText(decorator, place));
}

function formatBareText(decorator: string, place: string): string {
  const name = decorator.slice(0, decorator.indexOf("("));
  return `@${name} stands above ${place} without parentheses: write @${decorator}`;
}

/** The second argument of a call of the standard kind, by the TC39 proposal: `kind` is "class", "method", "field" and so on. */
interface StandardContext {
  readonly kind: string;
  readonly name: unknown;
}

function isStandardContext(value: unknown): value is StandardContext {
  return typeof value === "object" && value !== null && "kind" in value && typeof value.kind === "string";
}

/**
 * Whether a compiler has called the function as a decorator: the second argument is the name of a member, or the context of a standard
 * decorator.
 */
export function isDecoratorCall(second: unknown): boolean {
  return typeof second === "string" || typeof second === "symbol" || isStandardContext(second);
}

/**
 * The decorators of the framework are of the kind that TypeScript calls experimental. A tool without that setting calls them as standard
 * decorators, and they would silently have no effect.
 *
 * @param decorator as it is written: `Get("/")`
 * @param second the second argument of the call
 * @throws FrameworkError `E_DECORATOR_KIND` for a call of the standard kind
 */
export function refuseStandardCall(decorator: string, second: unknown): void {
  if (!isStandardContext(second)) return;
  const place = second.kind === "class" ? String(second.name) : `the ${second.kind} ${String(second.name)}`;
  const what = `@${decorator} above ${place} is called as a standard decorator, which it is not`;
  throw createSetupError("E_DECORATOR_KIND", `${what}; fix: ${OLDER_KIND}`);
}

const OLDER_KIND =
  'set "experimentalDecorators": true and "emitDecoratorMetadata": true below "compilerOptions" of tsconfig.json, ' +
  "which tsc, tsx, Bun and Deno read, and start the program from the folder of that file";

/** The class that a bare decorator has replaced, by the function that replaces it. */
const replaced = new WeakMap<object, { readonly decorator: string; readonly target: Class }>();

/**
 * Records the function that a factory returns, if the argument of the factory is a class. A call with a class is correct for such a
 * factory, so the mistake can be found only where the function is used in place of the class.
 */
export function recordFactory<F extends object>(factory: F, decorator: string, target: unknown): F {
  if (isClass(target)) replaced.set(factory, { decorator, target });
  return factory;
}

/** The message for a function that replaces a class; `undefined` for any other value. */
export function describeBareUse(value: unknown): string | undefined {
  const replacement = typeof value === "function" ? replaced.get(value) : undefined;
  return replacement && formatBareText(replacement.decorator, valueText(replacement.target));
}

/** @throws FrameworkError `E_DECORATOR_CALL` if a bare decorator below this one has replaced the class */
export function refuseReplaced(target: unknown): void {
  const message = describeBareUse(target);
  if (message !== undefined) throw createSetupError("E_DECORATOR_CALL", message);
}
