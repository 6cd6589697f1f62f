/**
 * The promises among the props of a page. A response awaits only the promises that it sends: a partial reload may name one prop, and a page
 * may be discarded. An unhandled rejection would end the process, so each promise is marked as handled when it is given.
 */
import { markHandled } from "../../../runtime/mark-handled.js";
import { Prop } from "./prop.js";
import { isLiteral } from "./props-resolver.js";

/** The bounds of the search for promises in one prop. A larger value is data, which has no promises. */
const MAX_DEPTH = 32;
const MAX_OBJECTS = 10_000;

/** Marks the promises of a prop, also in the members of object literals. A rejection fails the response that sends the promise. */
export function markPromises(prop: unknown): void {
  if (typeof prop === "object" && prop !== null && !Array.isArray(prop)) mark(prop, 0, { left: MAX_OBJECTS });
}

function mark(value: unknown, depth: number, objects: { left: number }): void {
  if (value instanceof Promise) void markHandled(value);
  else if (value instanceof Prop) mark(value.source, depth, objects);
  else if (isLiteral(value) && depth < MAX_DEPTH && --objects.left >= 0) {
    for (const key of Object.keys(value)) mark(value[key], depth + 1, objects);
  }
}
