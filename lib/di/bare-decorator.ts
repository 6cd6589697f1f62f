/**
 * A decorator that is written without parentheses. Its factory then gets the decorated class or member as its arguments, and the class
 * silently loses its decorator or is replaced by a function. The compiler refuses this; other tools do not check it.
 */
import { FrameworkError } from "../errors/framework-error.js";
import { nameOf } from "./token.js";
import { setupError } from "../errors/setup-error.js";

/**
 * @param decorator with the arguments that it needs: `Module({ … })`
 * @param target the class, or the prototype of a member
 */
export function bareDecorator(decorator: string, target: unknown, key?: unknown): FrameworkError {
  const name = decorator.slice(0, decorator.indexOf("("));
  const owner = typeof target === "function" ? nameOf(target) : nameOf(Object(target).constructor);
  const place = key === undefined ? owner : `${owner}.${nameOf(key)}`;
  return setupError(
    new FrameworkError(`@${name} stands above ${place} without parentheses: write @${decorator}`, {
      code: "E_DECORATOR_CALL",
    }),
  );
}
