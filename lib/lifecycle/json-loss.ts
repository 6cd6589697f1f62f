/**
 * What JSON would lose or change in a value that a store keeps as text. A store refuses such a value when it is written, because the reader
 * would get another one.
 *
 * Not for replies: what `JSON.stringify` makes of them is what the client gets.
 */

export interface JsonLoss {
  /** The place in the value; it never shows a value. */
  readonly path: string;
  readonly kind: string;
}

/**
 * The first part of a value that does not come back from JSON. A member of an object may be `undefined`, as it may be missing.
 *
 * The value has no cycle: call `JSON.stringify` first, which refuses one.
 */
export function findJsonLoss(value: unknown, path: string): JsonLoss | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
      return undefined;
    case "number":
      return Number.isFinite(value) ? undefined : { path, kind: "not a finite number" };
    case "object":
      return value === null ? undefined : lossInObject(value, path);
    default:
      return { path, kind: `of type ${typeof value}` };
  }
}

function lossInObject(value: object, path: string): JsonLoss | undefined {
  if (Array.isArray(value)) return firstLoss(value.entries(), path);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return { path, kind: `an object of a class` };
  // JSON.stringify calls a function alone. A form may have a field of this name.
  if ("toJSON" in value && typeof value.toJSON === "function") return { path, kind: "an object with toJSON" };
  return firstLoss(
    Object.entries(value).filter(([, member]) => member !== undefined),
    path,
  );
}

function firstLoss(members: Iterable<readonly [string | number, unknown]>, path: string): JsonLoss | undefined {
  for (const [key, member] of members) {
    const loss = findJsonLoss(member, `${path}.${key}`);
    if (loss !== undefined) return loss;
  }
  return undefined;
}
