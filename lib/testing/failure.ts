/**
 * The one error of every assertion here: Node's own, so that any test runner shows what was expected beside what was seen.
 */
import { AssertionError } from "node:assert";
import { inspect } from "node:util";

export interface Difference {
  readonly expected: unknown;
  readonly actual: unknown;
}

/** To be thrown; `message` names what was seen, also where a runner prints nothing else. */
export function failure(message: string, difference?: Difference): AssertionError {
  return new AssertionError({ message, ...difference });
}

/** A value as a message shows it: one line, at most 300 characters. */
export function shown(value: unknown): string {
  const text = typeof value === "string" ? JSON.stringify(value) : inspected(value);
  return text.length <= 300 ? text : `${text.slice(0, 300)}… (${text.length} characters)`;
}

function inspected(value: unknown): string {
  try {
    if (value instanceof Error) return String(value);
    return inspect(value, { breakLength: Infinity, depth: 4 });
  } catch {
    return "a value that cannot be looked at";
  }
}
