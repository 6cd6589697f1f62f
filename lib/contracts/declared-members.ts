/**
 * Finds the members of a value that its JSON Schema does not declare, at any depth. A schema that names members declares only these,
 * unless it says which others it takes; whether its library refuses others is of no consequence.
 *
 * @example
 * const leaveOut = compileDeclaredMembers(schema);
 * leaveOut({ id: 1, passwordHash: "…" }, (path) => report(path)); // { id: 1 }, after report("passwordHash")
 */
import { type JsonSchema, resolve } from "./json-schema.js";

/** Returns the value without the undeclared members, and calls `report` with the path of each. */
export type DeclaredMembers = (value: unknown, report: (path: string) => void) => unknown;

export function compileDeclaredMembers(root: JsonSchema): DeclaredMembers {
  const walker = new Walker(root);
  return (value, report) => walker.walk(root, value, "", report);
}

class Walker {
  private readonly expressions = new Map<string, RegExp>();

  constructor(private readonly root: JsonSchema) {}

  walk(given: JsonSchema, value: unknown, path: string, report: (path: string) => void): unknown {
    if (typeof value !== "object" || value === null) return value;
    const schema = this.choose(given, value);
    if (Array.isArray(value))
      return value.map((item, at) =>
        isLeaf(item) ? item : this.walkMember(schema.prefixItems?.[at] ?? schema.items, item, `${path}.${at}`, report),
      );
    // A value with `toJSON` becomes another value.
    if (schema.properties === undefined || "toJSON" in value) return this.walkRecord(schema, value, path, report);
    const declared: Record<string, unknown> = {};
    for (const [name, member] of Object.entries(value)) {
      const ofMember = Object.hasOwn(schema.properties, name) ? schema.properties[name] : this.findOther(schema, name);
      if (ofMember === undefined || ofMember === false) report(`${path}.${name}`.slice(1));
      else declared[name] = isLeaf(member) ? member : this.walkMember(ofMember, member, `${path}.${name}`, report);
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
    if ((typeof additionalProperties !== "object" && patternProperties === undefined) || "toJSON" in value)
      return value;
    const walked = Object.entries(value).map(([name, member]) => [
      name,
      this.walkMember(this.findOther(schema, name), member, `${path}.${name}`, report),
    ]);
    return Object.fromEntries(walked);
  }

  /** The schema of a member that no name declares. */
  private findOther(
    { patternProperties, additionalProperties }: JsonSchema,
    name: string,
  ): JsonSchema | boolean | undefined {
    if (patternProperties === undefined) return additionalProperties;
    const found = Object.entries(patternProperties).find(([pattern]) => this.toExpression(pattern).test(name));
    return found === undefined ? additionalProperties : found[1];
  }

  private toExpression(pattern: string): RegExp {
    const known = this.expressions.get(pattern) ?? new RegExp(pattern, "u");
    this.expressions.set(pattern, known);
    return known;
  }

  /** The schema that describes the value: of alternatives the first that fits, of parts their members together. */
  private choose(given: JsonSchema, value: object, depth = 0): JsonSchema {
    const schema = resolve(given, this.root);
    if (schema.anyOf === undefined && schema.oneOf === undefined && schema.allOf === undefined) return schema;
    const { anyOf = [], oneOf = [], allOf = [] } = schema;
    if (depth === MAX_NESTING) return schema;
    const alternatives = [...anyOf, ...oneOf].map((each) => this.choose(each, value, depth + 1));
    const fitting = alternatives.find((each) => this.fits(each, value)) ?? alternatives[0];
    const parts = [schema, ...allOf.map((each) => this.choose(each, value, depth + 1)), ...(fitting ? [fitting] : [])];
    return parts.length === 1 ? schema : mergeParts(parts);
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

function isLeaf(value: unknown): boolean {
  return typeof value !== "object" || value === null;
}

function mergeParts(parts: readonly JsonSchema[]): JsonSchema {
  const all = parts.flatMap(({ properties }) => (properties === undefined ? [] : [properties]));
  const properties = all.length === 0 ? undefined : Object.assign({}, ...all);
  return Object.assign({}, ...parts, properties && { properties });
}
