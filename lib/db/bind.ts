/**
 * Refuses binds that must not reach an engine. An array or a plain object may come from a JSON body that was not validated, and a driver
 * that converts it to SQL may widen a condition (`id = 1, 2`). `NaN` and an invalid Date come from a text that could not be parsed, and an
 * engine that has no such value stores 0 or null.
 */
import { FrameworkError } from "../errors/framework-error.js";
import { DriverError } from "./driver-error.js";

/** @param index from 0; @throws FrameworkError `E_DB_BIND`, without the value */
export function refuseBind(value: unknown, index: number): never {
  throw bindError(
    `bind ${index + 1} of a statement is ${describeKind(value)}: validate the input, or write json(value) for a column of JSON`,
  );
}

function describeKind(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  if (value instanceof Date) return "an invalid Date";
  // Neither text reveals the input.
  if (value === undefined || typeof value === "number") return String(value);
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** @param index from 0; @throws FrameworkError `E_DB_BIND`, without the value and without the error of its serialization */
export function refuseUnwritable(index: number): never {
  throw bindError(
    `bind ${index + 1} of a statement is an object that cannot be written: it refers to itself, holds a bigint, or a method of it throws`,
  );
}

/** @param index from 0; @throws FrameworkError `E_DB_BIND` */
export function refuseTextForJson(index: number): never {
  throw bindError(
    `bind ${index + 1} of a statement is a text for a column of JSON, where the text 5 would become a number: write json(value)`,
  );
}

/** An encoder replaces half of a surrogate pair by another character. @throws DriverError of the kind `text` */
export function checkText(text: string): void {
  if (!text.isWellFormed()) throw new DriverError({ kind: "text" });
}

/** @throws FrameworkError `E_DB_BIND` */
export function refuseBinds(count: number, max: number): never {
  throw bindError(`a statement has ${count} binds, and the database takes ${max}: run it in portions`);
}

/** Only the log has the message: the response does not tell the reason. */
export function bindError(message: string): FrameworkError {
  const error = new FrameworkError("The database refused the statement.", { code: "E_DB_BIND" });
  error.message = message;
  return error;
}
