/**
 * The JSON types that a schema takes, with all values of a type or with its constants alone. The conversion of texts reads them: `allOf` and
 * what stands beside alternatives narrow them, alternatives widen them. Keywords that only limit a value, such as `minimum`, and those that
 * the conversion does not read, such as `not`, narrow nothing.
 */
import { type JsonSchema, listAllParts, listConstants, resolve } from "./json-schema.js";

export type TextForms = ReadonlyMap<string, "any" | readonly unknown[]>;

const TYPES = ["string", "number", "integer", "boolean", "null", "array", "object"];

/** Whether the schema says nothing about the type. */
export function takesEveryType(forms: TextForms): boolean {
  return TYPES.every((type) => forms.get(type) === "any");
}

export class TextFormReader {
  private readonly known = new Map<JsonSchema, TextForms>();
  /** A schema inside itself, as an alternative or a part, adds nothing. */
  private readonly open = new Set<JsonSchema>();

  constructor(private readonly root: JsonSchema) {}

  read(given: JsonSchema | boolean): TextForms {
    const schema = resolve(given, this.root);
    const known = this.known.get(schema);
    if (known !== undefined) return known;
    this.open.add(schema);
    const choices = [schema.anyOf, schema.oneOf].filter((each) => each !== undefined);
    const alternatives = choices.map((each) => unite(this.readEach(each)));
    const forms = [...alternatives, ...this.readEach(listAllParts(schema))].reduce(intersect, listDirectForms(schema));
    this.open.delete(schema);
    this.known.set(schema, forms);
    return forms;
  }

  private readEach(schemas: readonly JsonSchema[]): readonly TextForms[] {
    return schemas.filter((each) => !this.open.has(resolve(each, this.root))).map((each) => this.read(each));
  }
}

function listDirectForms(schema: JsonSchema): TextForms {
  const { type } = schema;
  const constants = listConstants(schema);
  const types = [type ?? TYPES].flat().flatMap((each) => (each === "number" ? ["number", "integer"] : [each]));
  const forms: TextForms = new Map(types.map((each) => [each, "any"]));
  return constants === undefined ? forms : intersect(forms, unite(constants.map(toForms)));
}

/** The constant `2` is a number, and a whole one. */
function toForms(constant: unknown): TextForms {
  const type = constant === null ? "null" : Array.isArray(constant) ? "array" : typeof constant;
  return new Map([type, ...(Number.isInteger(constant) ? ["integer"] : [])].map((each) => [each, [constant]]));
}

function unite(all: readonly TextForms[]): TextForms {
  const united = new Map<string, "any" | readonly unknown[]>();
  for (const [type, values] of all.flatMap((forms) => [...forms])) {
    const known = united.get(type) ?? [];
    united.set(type, known === "any" || values === "any" ? "any" : [...known, ...values]);
  }
  return united;
}

function intersect(one: TextForms, other: TextForms): TextForms {
  return new Map(
    [...one].flatMap(([type, values]) => {
      const opposite = other.get(type) ?? [];
      const both =
        values === "any" ? opposite : opposite === "any" ? values : values.filter((each) => hasValue(opposite, each));
      return both.length === 0 ? [] : [[type, both] as const];
    }),
  );
}

function hasValue(values: readonly unknown[], value: unknown): boolean {
  return values.some((each) => JSON.stringify(each) === JSON.stringify(value));
}

/** Of constants with members the schemas of these members. */
export function listConstantSchemas(schema: JsonSchema): readonly JsonSchema[] {
  return (listConstants(schema) ?? []).flatMap((value): readonly JsonSchema[] => {
    if (typeof value !== "object" || value === null) return [];
    if (Array.isArray(value)) return [{ type: "array", prefixItems: value.map((each: unknown) => ({ const: each })) }];
    return [{ type: "object", properties: toProperties(value) }];
  });
}

function toProperties(value: object): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(Object.entries(value).map(([name, each]: [string, unknown]) => [name, { const: each }]));
}
