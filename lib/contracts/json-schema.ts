/**
 * The JSON Schema of a schema, by the interface of Standard JSON Schema: https://standardschema.dev/json-schema. zod from 4.2 and arktype
 * from 2.1.28 have it; valibot gets it from `toStandardJsonSchema()`.
 */
import type { Schema } from "../runtime/standard-schema.js";

/** A JSON Schema of draft 2020-12, as far as the framework reads it. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema | boolean;
  readonly prefixItems?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
}

/** A schema without a JSON Schema, and the reason. */
export class NoJsonSchema {
  constructor(readonly reason: string) {}
}

/** The side of a schema: its input is the value before its transforms and defaults. */
export type SchemaSide = "input" | "output";

interface ConverterOptions {
  readonly target: string;
  readonly libraryOptions?: object | undefined;
}

interface Converter {
  readonly input: (options: ConverterOptions) => unknown;
  readonly output: (options: ConverterOptions) => unknown;
}

/** The part of a schema for which arktype asks. */
interface ArkPart {
  readonly code: string;
  readonly base: JsonSchema;
}

interface ZodSchemaPart {
  readonly zodSchema: { readonly _zod: { readonly def: { readonly type: string } } };
  readonly jsonSchema: { readOnly?: boolean };
}

const STRICT = {
  /** arktype writes a part that it cannot represent as one for any value. */
  fallback: ({ code, base }: ArkPart): JsonSchema => {
    if (takesAnyValue(base)) throw new TypeError(`a part, which is a ${code} of arktype, cannot be represented`);
    return base;
  },
  /** `.readonly()` of zod is about JavaScript. A client does not send a member that is `readOnly` in a document. */
  override: ({ zodSchema, jsonSchema }: ZodSchemaPart): void => {
    if (zodSchema._zod.def.type === "readonly") delete jsonSchema.readOnly;
  },
};

/** A part without a JSON Schema, such as a date, takes any value. The first is an option of zod, then arktype, then valibot. */
const LENIENT = {
  unrepresentable: "any",
  fallback: ({ base }: { readonly base: unknown }) => base,
  errorMode: "ignore",
};

type KnownSchemas = WeakMap<Schema, JsonSchema | NoJsonSchema>;

const converted: Readonly<Record<SchemaSide, KnownSchemas>> = { input: new WeakMap(), output: new WeakMap() };

/**
 * Returns the JSON Schema, or the reason why there is none. A part without one, such as a date whose `meta` states none, is a reason. A
 * library takes long to convert a schema, and routes share schemas, so each is converted once.
 */
export function readJsonSchema(schema: Schema, side: SchemaSide): JsonSchema | NoJsonSchema {
  const known = converted[side].get(schema);
  if (known !== undefined) return known;
  const found = convertToJsonSchema(schema, side);
  converted[side].set(schema, found);
  return found;
}

/** Converts the schema again, which computes its defaults again. */
export function convertToJsonSchema(schema: Schema, side: SchemaSide): JsonSchema | NoJsonSchema {
  const whole = convert(schema, side);
  return whole instanceof NoJsonSchema ? readStatedParts(schema, side, whole) : whole;
}

function convert(schema: Schema, side: SchemaSide, libraryOptions: object = STRICT): JsonSchema | NoJsonSchema {
  // Libraries without the interface lack the member.
  const { jsonSchema } = schema["~standard"] as { readonly jsonSchema?: Converter };
  if (typeof jsonSchema?.[side] !== "function") return new NoJsonSchema("the schema library gives none");
  try {
    const found = jsonSchema[side]({ target: "draft-2020-12", libraryOptions });
    // The interface promises an object.
    return typeof found === "object" && found !== null
      ? found
      : new NoJsonSchema(`the schema library gives ${typeof found}`);
  } catch (error) {
    return new NoJsonSchema(error instanceof Error ? error.message : "the schema library throws");
  }
}

interface ZodPart {
  readonly path: readonly PropertyKey[];
}

/**
 * zod asks what each part without a JSON Schema is. The `meta` of the part, or of a schema around it at the same place, may state it.
 * An earlier zod does not ask.
 */
function readStatedParts(schema: Schema, side: SchemaSide, whole: NoJsonSchema): JsonSchema | NoJsonSchema {
  const reasons = new Map<string, string | undefined>();
  const stated = convert(schema, side, {
    unrepresentable: ({ path, message }: ZodPart & { readonly message: string }) => {
      const name = path.at(-1);
      reasons.set(path.join("/"), name === undefined ? message : `${String(name)}: ${message}`);
      return "any";
    },
    override: (part: ZodPart & ZodSchemaPart & { readonly jsonSchema: JsonSchema }) => {
      STRICT.override(part);
      const { path, jsonSchema } = part;
      if (!takesAnyValue(jsonSchema)) reasons.set(path.join("/"), undefined);
    },
  });
  if (stated instanceof NoJsonSchema || reasons.size === 0) return whole;
  const reason = [...reasons.values()].find((each) => each !== undefined);
  return reason === undefined ? stated : new NoJsonSchema(reason);
}

/** Returns the JSON Schema with the parts that have one. The others take any value; where that is the whole value, there is no JSON Schema. */
export function readKnownParts(schema: Schema, side: SchemaSide): JsonSchema | NoJsonSchema {
  const whole = readJsonSchema(schema, side);
  if (!(whole instanceof NoJsonSchema)) return whole;
  const known = convert(schema, side, LENIENT);
  return known instanceof NoJsonSchema || takesAnyValue(known) ? whole : known;
}

function takesAnyValue(schema: JsonSchema): boolean {
  const { $ref, type, const: constant, enum: values, anyOf = [], oneOf = [], allOf } = schema;
  if ([$ref, type, constant, values, allOf].some((each) => each !== undefined)) return false;
  const alternatives = [...anyOf, ...oneOf];
  return alternatives.length === 0 || alternatives.some(takesAnyValue);
}

/** The names of members that a schema declares, at any depth; none where it has no JSON Schema. */
export function listPropertyNames(schema: Schema): readonly string[] {
  const names: string[] = [];
  const parts = new Set<unknown>([readKnownParts(schema, "input")]);
  for (const part of parts) {
    if (typeof part !== "object" || part === null || part instanceof NoJsonSchema) continue;
    for (const [name, member] of Object.entries(part)) {
      if (name === "properties") names.push(...Object.keys(Object(member)));
      parts.add(member);
    }
  }
  return names;
}

/**
 * Finds the schema that a reference of this document names, through references to references. A reference to an anchor, or to another
 * document, is a schema that takes anything. A reference with other keywords beside it stays: see `listAllParts`.
 */
export function resolve(schema: JsonSchema | boolean, root: JsonSchema): JsonSchema {
  if (typeof schema === "boolean") return schema ? ANYTHING : NOTHING;
  let found = schema;
  for (let steps = 0; found.$ref !== undefined && !hasKeywordsBeside(found); steps++) {
    if (steps === MAX_REFERENCES) return ANYTHING;
    found = find(found.$ref, root);
  }
  return found;
}

const MAX_REFERENCES = 64;

const ANYTHING: JsonSchema = {};
const NOTHING: JsonSchema = { enum: [] };

/** The schemas of which a value has to fit each: also that of a reference with keywords beside it. */
export function listAllParts(schema: JsonSchema): readonly JsonSchema[] {
  const { $ref, allOf = [] } = schema;
  return $ref === undefined || !hasKeywordsBeside(schema) ? allOf : [{ $ref }, ...allOf];
}

/** Whether one of the keywords that the framework reads stands beside the reference. */
function hasKeywordsBeside(schema: JsonSchema): boolean {
  return KEYWORDS.some((keyword) => schema[keyword] !== undefined);
}

const KEYWORDS: readonly (keyof JsonSchema)[] = [
  ...(["type", "const", "enum", "properties", "required", "patternProperties", "additionalProperties"] as const),
  ...(["items", "prefixItems", "anyOf", "oneOf", "allOf"] as const),
];

function find(reference: string, root: JsonSchema): JsonSchema {
  const [start, ...names] = reference.split("/");
  if (start !== "#") return ANYTHING;
  let found: unknown = root;
  for (const name of names) {
    const key = decode(name).replaceAll("~1", "/").replaceAll("~0", "~");
    found = Object.hasOwn(Object(found), key) ? Object(found)[key] : undefined;
  }
  if (typeof found === "boolean") return resolve(found, root);
  return typeof found === "object" && found !== null ? found : ANYTHING;
}

/** A text with a percent sign that encodes nothing stays. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The values of a schema that has constants. */
export function listConstants({ const: constant, enum: values }: JsonSchema): readonly unknown[] | undefined {
  return constant === undefined ? values : [constant];
}

/** The expression of a pattern, which ECMA-262 reads with Unicode; `undefined` for one that is none. */
export function toExpression(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern, "u");
  } catch {
    return undefined;
  }
}

/** Whether every value of the schema is an object or a list, which a handler may return as it is. */
export function isObjectOrList(schema: JsonSchema | NoJsonSchema): boolean {
  return !(schema instanceof NoJsonSchema) && (schema.type === "object" || schema.type === "array");
}

/**
 * Finds the first place where the two sides of a schema have other JSON types, as a transform makes them; a default is no change. Returns
 * the path of the place.
 */
export function findFormChange(input: JsonSchema, output: JsonSchema | NoJsonSchema): string | undefined {
  if (output instanceof NoJsonSchema) return `a transform: ${output.reason}`;
  return new FormComparison(input, output).find(input, output, "", 0);
}

class FormComparison {
  constructor(
    private readonly inputRoot: JsonSchema,
    private readonly outputRoot: JsonSchema,
  ) {}

  find(given: JsonSchema, opposite: JsonSchema, path: string, depth: number): string | undefined {
    if (depth > MAX_COMPARED_DEPTH) return undefined;
    const input = resolve(given, this.inputRoot);
    const output = resolve(opposite, this.outputRoot);
    if (listTypes(input) !== listTypes(output)) return path.slice(1) || "its root";
    for (const [name, one, other] of pairSchemas(input, output)) {
      const found = this.find(one, other, name === undefined ? path : `${path}.${name}`, depth + 1);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

/** Schemas may contain themselves. */
const MAX_COMPARED_DEPTH = 8;

function listTypes({ type }: JsonSchema): string {
  return [type ?? []].flat().toSorted().join();
}

type SchemaPair = readonly [name: string | undefined, input: JsonSchema, output: JsonSchema];

function* pairSchemas(input: JsonSchema, output: JsonSchema): Generator<SchemaPair> {
  for (const [name, one] of Object.entries(input.properties ?? {})) {
    const other = output.properties?.[name];
    if (other !== undefined) yield [name, one, other];
  }
  if (typeof input.items === "object" && typeof output.items === "object") yield ["0", input.items, output.items];
  if (typeof input.additionalProperties === "object" && typeof output.additionalProperties === "object")
    yield ["*", input.additionalProperties, output.additionalProperties];
  for (const part of ["anyOf", "oneOf", "allOf"] as const)
    for (const [at, one] of (input[part] ?? []).entries()) {
      const other = output[part]?.[at];
      if (other !== undefined) yield [undefined, one, other];
    }
}
