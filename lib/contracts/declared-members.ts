/**
 * Finds the members of a value that its JSON Schema does not declare, at any depth. A schema that names members declares only these,
 * unless it says which others it takes; whether its library refuses others is of no consequence.
 *
 * @example
 * const leaveOut = compileDeclaredMembers(schema);
 * leaveOut({ id: 1, passwordHash: "…" }, (path) => report(path)); // { id: 1 }, after report("passwordHash")
 */
import { type JsonSchema, listAllParts, resolve, toExpression } from "./json-schema.js";

/** Returns the value without the undeclared members, and calls `report` with the path of each. */
export type DeclaredMembers = (value: unknown, report: (path: string) => void) => unknown;

export function compileDeclaredMembers(root: JsonSchema): DeclaredMembers {
  const walker = new Walker(root);
  return (value, report) => walker.walk(root, value, "", report);
}

class Walker {
  private readonly expressions = new Map<string, RegExp | undefined>();

  /** Alternatives inside a value whose undeclared members are counted are compared by their own members: each count more is another walk. */
  private isCounting = false;

  constructor(private readonly root: JsonSchema) {}

  walk(given: JsonSchema, value: unknown, path: string, report: (path: string) => void): unknown {
    if (isLeaf(value)) return value;
    const json = toJsonForm(value);
    // A date becomes a text.
    if (isLeaf(json)) return value;
    const schema = this.choose(given, json);
    if (Array.isArray(json))
      return json.map((item, at) =>
        isLeaf(item) ? item : this.walkMember(schema.prefixItems?.[at] ?? schema.items, item, `${path}.${at}`, report),
      );
    if (schema.properties === undefined) return this.walkRecord(schema, json, path, report);
    const declared: Record<string, unknown> = {};
    for (const [name, member] of Object.entries(json)) {
      if (isLeftOut(member)) continue;
      const ofMember = this.findMember(schema, name);
      if (ofMember === undefined || ofMember === false) report(`${path}.${name}`.slice(1));
      else
        define(declared, name, isLeaf(member) ? member : this.walkMember(ofMember, member, `${path}.${name}`, report));
    }
    return declared;
  }

  private walkMember(
    schema: JsonSchema | boolean | undefined,
    member: unknown,
    path: string,
    report: (path: string) => void,
  ): unknown {
    return typeof schema === "object" ? this.walk(schema, member, path, report) : member;
  }

  private walkRecord(schema: JsonSchema, value: object, path: string, report: (path: string) => void): unknown {
    const { additionalProperties, patternProperties } = schema;
    if (typeof additionalProperties !== "object" && patternProperties === undefined) return value;
    const walked = Object.entries(value).map(([name, member]) => [
      name,
      this.walkMember(this.findOther(schema, name), member, `${path}.${name}`, report),
    ]);
    return Object.fromEntries(walked);
  }

  /** `undefined` and `false` for a member that the schema does not declare. */
  private findMember(schema: JsonSchema, name: string): JsonSchema | boolean | undefined {
    const { properties = {} } = schema;
    return Object.hasOwn(properties, name) ? properties[name] : this.findOther(schema, name);
  }

  /** The schema of a member that no name declares. */
  private findOther(
    { patternProperties, additionalProperties }: JsonSchema,
    name: string,
  ): JsonSchema | boolean | undefined {
    if (patternProperties === undefined) return additionalProperties;
    const found = Object.entries(patternProperties).find(([pattern]) => this.findExpression(pattern)?.test(name));
    return found === undefined ? additionalProperties : found[1];
  }

  private findExpression(pattern: string): RegExp | undefined {
    const known = this.expressions.get(pattern) ?? toExpression(pattern);
    this.expressions.set(pattern, known);
    return known;
  }

  /** The schema that describes the value: of alternatives the best that fits, of parts their members together. */
  private choose(given: JsonSchema, value: object, depth = 0): JsonSchema {
    const schema = resolve(given, this.root);
    const { anyOf = [], oneOf = [] } = schema;
    const allOf = listAllParts(schema);
    if (depth === MAX_NESTING || anyOf.length + oneOf.length + allOf.length === 0) return schema;
    const alternatives = [...anyOf, ...oneOf].map((each) => this.choose(each, value, depth + 1));
    const fitting =
      this.pickBest(
        alternatives.filter((each) => this.fits(each, value)),
        value,
      ) ?? alternatives[0];
    const parts = [schema, ...allOf.map((each) => this.choose(each, value, depth + 1)), ...(fitting ? [fitting] : [])];
    return parts.length === 1 ? schema : mergeParts(parts);
  }

  /** Of the alternatives that fit, the first with the fewest undeclared members. */
  private pickBest(fitting: readonly JsonSchema[], value: object): JsonSchema | undefined {
    let [best] = fitting;
    if (fitting.length < 2) return best;
    let min = Infinity;
    for (const each of fitting) {
      const count = this.isCounting ? this.countOwn(each, value) : this.countUndeclared(each, value);
      if (count === 0) return each;
      if (count < min) [best, min] = [each, count];
    }
    return best;
  }

  private countUndeclared(schema: JsonSchema, value: object): number {
    let count = 0;
    this.isCounting = true;
    try {
      this.walk(schema, value, "", () => count++);
    } finally {
      this.isCounting = false;
    }
    return count;
  }

  private countOwn(schema: JsonSchema, value: object): number {
    if (schema.properties === undefined) return 0;
    return Object.keys(value).filter((name) => (this.findMember(schema, name) ?? false) === false).length;
  }

  /** Whether the value has the kind, the required members and the constants of a schema. */
  private fits(schema: JsonSchema, value: object): boolean {
    const { type, required = [], properties = {} } = schema;
    if (type !== undefined && ![type].flat().includes(Array.isArray(value) ? "array" : "object")) return false;
    if (!required.every((name) => Object.hasOwn(value, name))) return false;
    return Object.entries(properties).every(([name, member]) => {
      const { const: constant, enum: values = constant === undefined ? undefined : [constant] } = resolve(
        member,
        this.root,
      );
      return values === undefined || !Object.hasOwn(value, name) || values.includes(Reflect.get(value, name));
    });
  }
}

const MAX_NESTING = 8;

/** The value that JSON has of an object with `toJSON`, such as a row of an ORM. */
export function toJsonForm(value: object): unknown {
  return "toJSON" in value && typeof value.toJSON === "function" ? Reflect.apply(value.toJSON, value, []) : value;
}

export function isLeaf(value: unknown): value is string | number | boolean | bigint | symbol | null | undefined {
  return typeof value !== "object" || value === null;
}

/** Whether JSON has no member for the value. */
function isLeftOut(value: unknown): boolean {
  return value === undefined || typeof value === "function" || typeof value === "symbol";
}

/** An assignment would drop a member named `__proto__`. */
function define(target: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== "__proto__") target[name] = value;
  else Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}

function mergeParts(parts: readonly JsonSchema[]): JsonSchema {
  const all = parts.flatMap(({ properties }) => (properties === undefined ? [] : [properties]));
  const properties = all.length === 0 ? undefined : Object.assign({}, ...all);
  return Object.assign({}, ...parts, properties && { properties });
}
