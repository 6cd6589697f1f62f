/**
 * Safe ways to read a thrown value. A program can throw any value, and reading or printing it can throw again: a getter, a `toString`
 * method or a proxy can fail. The functions of this file never throw.
 *
 * Not for errors that can be passed on as they are, for example as the `cause` of another error.
 */

const UNREADABLE = "a value that cannot be read";

/** One line for a message that names a cause. */
export function causeText(cause: unknown): string {
  try {
    return cause instanceof Error ? errorText(cause) : String(cause);
  } catch {
    return UNREADABLE;
  }
}

function errorText(error: Error): string {
  if (error.message !== "") return error.message;
  // Node reports a connection that is refused on all addresses of a host as an `AggregateError` without a message.
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(causeText).join("; ");
  return String(error);
}

/** The whole value as Node prints it, with its stack, on several lines: for standard error. */
export function inspectThrown(thrown: unknown): string {
  try {
    // Not imported, because a browser loads this file with the endpoints.
    return process.getBuiltinModule("node:util").inspect(thrown);
  } catch {
    return UNREADABLE;
  }
}

/** The fields of a log event: `error`, and for an `Error` its `stack`. */
export function describeThrown(thrown: unknown): Record<string, unknown> {
  try {
    return thrown instanceof Error ? { error: thrown, stack: thrown.stack } : { error: thrown };
  } catch {
    return { error: UNREADABLE };
  }
}

/** The text that stands for a field whose value cannot be read. */
export const UNREADABLE_FIELD = "[unreadable]";

/** The value of a field, or `UNREADABLE_FIELD` where its getter throws. */
export function readField(fields: Readonly<Record<string, unknown>>, name: string): unknown {
  try {
    return fields[name];
  } catch {
    return UNREADABLE_FIELD;
  }
}

/** The names of fields; none where a proxy does not list them. */
export function listFieldNames(fields: Readonly<Record<string, unknown>> | undefined): readonly string[] {
  try {
    return Object.keys(fields ?? {});
  } catch {
    return [];
  }
}
