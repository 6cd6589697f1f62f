/** The error of every assertion of the test kit: Node's `AssertionError`. Test runners show its expected and its actual value. */
import { AssertionError } from "node:assert";
import { inspect } from "node:util";

export interface Difference {
  readonly expected: unknown;
  readonly actual: unknown;
}

const MAX_SHOWN_CHARACTERS = 300;

/** Returns the error for the caller to throw. `message` names the actual value too, because some runners print only the message. */
export function createFailure(message: string, difference?: Difference): AssertionError {
  return new AssertionError({ message, ...difference });
}

/** A value as text for a message: at most 300 characters of it. */
export function describeValue(value: unknown): string {
  const text = typeof value === "string" ? JSON.stringify(value) : inspectValue(value);
  if (text.length <= MAX_SHOWN_CHARACTERS) return text;
  return `${text.slice(0, MAX_SHOWN_CHARACTERS)}… (${text.length} characters)`;
}

function inspectValue(value: unknown): string {
  try {
    if (value instanceof Error) return String(value);
    return inspect(value, { breakLength: Infinity, depth: 4 });
  } catch {
    return "[unreadable]";
  }
}
