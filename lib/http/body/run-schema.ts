/**
 * Calls a schema with a value from outside. An error that the schema throws is replaced by one without its message: schemas and their
 * callbacks quote the value, which may be a password, and the log has the message of an unhandled error. The stack stays.
 */
import { FrameworkError } from "../../errors/framework-error.js";
import type { Schema, SchemaResult } from "../../runtime/standard-schema.js";

/**
 * Returns the result of the schema, or a promise of it. Throws an error with a status as it is: the schema refuses the request with it.
 *
 * @param place the value in messages, such as `body`
 * @throws FrameworkError `E_SCHEMA` for any other error of the schema
 */
export function runSchema(
  schema: Schema,
  value: unknown,
  place: string,
): SchemaResult<unknown> | Promise<SchemaResult<unknown>> {
  try {
    const result = schema["~standard"].validate(value);
    if (!("then" in result)) return result;
    // Not every schema returns a promise of this realm.
    return Promise.resolve(result).catch((thrown: unknown) => {
      throw toSchemaError(thrown, place);
    });
  } catch (thrown) {
    throw toSchemaError(thrown, place);
  }
}

function toSchemaError(thrown: unknown, place: string): unknown {
  try {
    return hasStatus(thrown) ? thrown : createSchemaError(thrown, place);
  } catch {
    return createSchemaError(undefined, place);
  }
}

/** Whether the error is one of the framework, one of `ctx.throw`, or the end of work that `ctx.signal` has aborted. */
function hasStatus(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  return thrown instanceof FrameworkError || "expose" in thrown || thrown.cause instanceof FrameworkError;
}

function createSchemaError(thrown: unknown, place: string): FrameworkError {
  const kind = thrown instanceof Error ? `an error of the class ${thrown.constructor.name}` : `a ${typeof thrown}`;
  const message = `the schema of ${place} threw ${kind}; its text is left out, because it may quote the value`;
  const error = new FrameworkError(message, { code: "E_SCHEMA" });
  if (thrown instanceof Error) error.stack = `${error.name}: ${message}${listFrames(thrown)}`;
  return error;
}

/** The lines of the stack after the message; none for a stack without the message, in which the message may have been another one. */
function listFrames({ message, stack = "" }: Error): string {
  const at = stack.indexOf(message);
  const lines = at < 0 ? [] : stack.slice(at + message.length).split("\n");
  return lines
    .filter((line) => line.startsWith("    at "))
    .map((line) => `\n${line}`)
    .join("");
}
