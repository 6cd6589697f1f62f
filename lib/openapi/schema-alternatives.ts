/** The alternatives of a JSON Schema, and which of two schemas belong together. */
import { isObject, type JsonObject } from "./document.js";

export interface PairedAlternatives {
  readonly pairs: readonly (readonly [before: unknown, after: unknown])[];
  readonly removed: readonly unknown[];
  readonly added: readonly unknown[];
}

export function hasAlternatives(schema: JsonObject): boolean {
  return Array.isArray(schema["anyOf"]) || Array.isArray(schema["oneOf"]);
}

/** The schemas under `anyOf` and `oneOf`, with the members beside them; a schema without both is one alternative for each of its types. */
export function listAlternatives(schema: JsonObject): readonly unknown[] {
  const { anyOf: any, oneOf: one, ...rest } = schema;
  const given = [any, one].flatMap((each): readonly unknown[] => (Array.isArray(each) ? each : []));
  if (hasAlternatives(schema))
    return takesAnyValue(rest) ? given : given.map((each) => (isObject(each) ? { ...rest, ...each } : each));
  const types = listTypes(schema);
  return types.length < 2 ? [schema] : types.map((type) => ({ ...schema, type }));
}

/** Pairs equal schemas first, then those with the same mark, in their order. The order of alternatives has no meaning. */
export function pairAlternatives(
  before: readonly unknown[],
  after: readonly unknown[],
  read: { readonly before: ReadSchema; readonly after: ReadSchema },
): PairedAlternatives {
  const equal = takePairs(before, after, (schema) => JSON.stringify(schema));
  const marks = new Map([
    ...equal.removed.map((schema) => [schema, getMark(schema, read.before)] as const),
    ...equal.added.map((schema) => [schema, getMark(schema, read.after)] as const),
  ]);
  const marked = takePairs(equal.removed, equal.added, (schema) => marks.get(schema));
  return { ...marked, pairs: [...equal.pairs, ...marked.pairs] };
}

function takePairs(
  before: readonly unknown[],
  after: readonly unknown[],
  getKey: (schema: unknown) => string | undefined,
): PairedAlternatives {
  const pairs: (readonly [before: unknown, after: unknown])[] = [];
  const added = [...after];
  const removed = before.filter((each) => {
    const key = getKey(each);
    const at = added.findIndex((other) => getKey(other) === key);
    if (at >= 0) pairs.push([each, added.splice(at, 1)[0]]);
    return at < 0;
  });
  return { pairs, removed, added };
}

export type ReadSchema = (schema: unknown) => JsonObject;

/** The types of a schema, and the constants of its members: a discriminator tells alternatives apart. */
function getMark(schema: unknown, read: ReadSchema): string {
  const found = read(schema);
  const members = Object.entries(isObject(found["properties"]) ? found["properties"] : {});
  const constants = members.flatMap(([name, member]) => {
    const values = listValues(read(member));
    return values?.length === 1 ? [`${name} ${values.join()}`] : [];
  });
  return JSON.stringify([listTypes(found), constants.toSorted()]);
}

/** The types in the order of their names; those of the values where the schema lists values alone. */
export function listTypes(schema: JsonObject): readonly string[] {
  const { type, const: constant, enum: values } = schema;
  if (type === undefined && (constant !== undefined || Array.isArray(values)))
    return [...new Set((constant !== undefined ? [constant] : (values as readonly unknown[])).map(getType))].toSorted();
  const types: readonly unknown[] = [type ?? []].flat();
  return types.map(String).toSorted();
}

function getType(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}

/** The values as JSON; `undefined` for a schema that takes any. */
export function listValues({ const: constant, enum: values }: JsonObject): readonly string[] | undefined {
  if (constant !== undefined) return [JSON.stringify(constant)];
  return Array.isArray(values) ? values.map((value) => JSON.stringify(value)) : undefined;
}

/** Members that say nothing about the values of a schema. */
const WORDS: ReadonlySet<string> = new Set(["default", "deprecated", "description", "example", "examples", "title"]);

export function takesAnyValue(schema: JsonObject): boolean {
  return Object.keys(schema).every((name) => WORDS.has(name));
}

export function takesNoValue({ not }: JsonObject): boolean {
  return not === true || (isObject(not) && takesAnyValue(not));
}
