/**
 * Refuses a decorator that is written without parentheses: its factory then gets the decorated class or member as its arguments, and the
 * class silently loses its decorator or is replaced by a function. Refuses also a decorator above a member of another kind. The compiler
 * finds both; other tools do not check them.
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

/** Whether a call is of the standard kind, by its second argument. */
export function isStandardContext(value: unknown): value is DecoratorContext {
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
 * @param decorator as it is written: `Module({ … })`
 * @param context only that of a standard call tells the kind
 * @throws FrameworkError `E_DECORATOR_KIND` for the decorator of a class above anything else
 */
export function requireClass(decorator: string, context: DecoratorContext | undefined): void {
  if (isStandardContext(context) && context.kind !== "class") throw otherKind(decorator, context, "class");
}

/** @param needed what the decorator belongs above */
export function otherKind(decorator: string, context: DecoratorContext, needed: string): FrameworkError {
  const kind = context.kind !== "class" && context.private ? `private ${context.kind}` : context.kind;
  const message = `@${decorator} stands above the ${kind} ${String(context.name)}: it belongs above a ${needed}`;
  return createSetupError("E_DECORATOR_KIND", message);
}

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
