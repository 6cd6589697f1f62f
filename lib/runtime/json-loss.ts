/**
 * Finds the parts of a value that JSON would lose or change, for a store that saves the value as text. The store refuses such a value,
 * because the reader would get another one.
 *
 * Not for replies: the client gets the result of `JSON.stringify`.
 */

export interface JsonLoss {
  /** The place in the value; it never shows a value. */
  readonly path: string;
  readonly kind: string;
}

/**
 * The first part of a value that JSON cannot restore. A member of an object may be `undefined`, as it may be missing.
 *
 * The value has no cycle: call `JSON.stringify` first, which refuses one.
 */
export function findJsonLoss(value: unknown, path: string): JsonLoss | undefined {
  return findLoss(value, path, onlyPlain);
}

/**
 * The first part of a value that JSON leaves out: a function, a number that becomes null, an object whose content JSON does not see. A
 * value that JSON writes in another form, such as a `Date` or the members of a class, is not a loss.
 *
 * The value has no cycle: call `JSON.stringify` first, which refuses one.
 */
export function findJsonDrop(value: unknown, path: string): JsonLoss | undefined {
  return findLoss(value, path, (object) => {
    const isShown = hasToJson(object) || isPlain(object) || Object.keys(object).length > 0;
    return isShown ? undefined : "an object whose content JSON does not see";
  });
}

/** Returns the loss of an object itself, without the losses of its members. Not for arrays. */
type ObjectRule = (value: object) => string | undefined;

const onlyPlain: ObjectRule = (value) => {
  if (!isPlain(value)) return "an object of a class";
  return hasToJson(value) ? "an object with toJSON" : undefined;
};

function findLoss(value: unknown, path: string, rule: ObjectRule): JsonLoss | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
      return undefined;
    case "number":
      return Number.isFinite(value) ? undefined : { path, kind: "not a finite number" };
    case "object":
      return value === null ? undefined : findObjectLoss(value, path, rule);
    default:
      return { path, kind: `of type ${typeof value}` };
  }
}

function findObjectLoss(value: object, path: string, rule: ObjectRule): JsonLoss | undefined {
  if (Array.isArray(value)) return findFirstLoss(value.entries(), path, rule);
  const kind = rule(value);
  if (kind !== undefined) return { path, kind };
  // The result of `toJSON` replaces the members.
  if (hasToJson(value)) return undefined;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return findFirstLoss(members, path, rule);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** `JSON.stringify` calls only a function. A form may have a field of this name. */
function hasToJson(value: object): boolean {
  return "toJSON" in value && typeof value.toJSON === "function";
}

function findFirstLoss(
  members: Iterable<readonly [string | number, unknown]>,
  path: string,
  rule: ObjectRule,
): JsonLoss | undefined {
  for (const [key, member] of members) {
    const loss = findLoss(member, `${path}.${key}`, rule);
    if (loss !== undefined) return loss;
  }
  return undefined;
}
