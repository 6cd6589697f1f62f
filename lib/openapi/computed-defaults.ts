/**
 * A JSON Schema without the defaults that a function computes, such as a random id or the current time: they would differ in each document
 * of the same routes.
 */
import { isObject, type JsonObject } from "./document.js";
import { getMember } from "./reference-reader.js";

/** Members that have a schema under each name. */
export const NAMED_SCHEMAS: ReadonlySet<string> = new Set([
  "$defs",
  "definitions",
  "dependentSchemas",
  "patternProperties",
  "properties",
]);

/** Reads a schema twice. A default that differs, or that is the time of the reading, is left out. */
export function readWithoutComputedDefaults(read: () => JsonObject): JsonObject {
  const since = Date.now();
  const [first, second] = [read(), read()];
  const until = Date.now();
  const isComputed = (value: unknown, other: unknown): boolean => {
    const time = typeof value === "string" ? Date.parse(value) : value;
    const isNow = typeof time === "number" && time >= since && time <= until;
    return isNow || JSON.stringify(value) !== JSON.stringify(other);
  };
  return leaveOutOfSchema(first, second, isComputed);
}

type IsComputed = (value: unknown, other: unknown) => boolean;

function leaveOutOfSchema(schema: JsonObject, other: unknown, isComputed: IsComputed): JsonObject {
  const entries = Object.entries(schema).filter(
    ([name, value]) => name !== "default" || !isComputed(value, getMember(other, name)),
  );
  return mapEntries(entries, (name, value) => {
    const opposite = getMember(other, name);
    if (!NAMED_SCHEMAS.has(name) || !isObject(value)) return leaveOut(value, opposite, isComputed);
    return mapEntries(Object.entries(value), (key, each) => leaveOut(each, getMember(opposite, key), isComputed));
  });
}

function leaveOut(value: unknown, other: unknown, isComputed: IsComputed): unknown {
  if (Array.isArray(value))
    return value.map((each: unknown, at) => leaveOut(each, getMember(other, String(at)), isComputed));
  return isObject(value) ? leaveOutOfSchema(value, other, isComputed) : value;
}

function mapEntries(
  entries: readonly (readonly [string, unknown])[],
  map: (name: string, value: unknown) => unknown,
): JsonObject {
  return Object.fromEntries(entries.map(([name, value]) => [name, map(name, value)]));
}
