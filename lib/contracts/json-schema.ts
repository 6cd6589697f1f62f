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
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
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

interface Converter {
  readonly input: (options: { readonly target: string }) => unknown;
  readonly output: (options: { readonly target: string }) => unknown;
}

/** Returns the JSON Schema, or the reason why there is none. */
export function readJsonSchema(schema: Schema, side: SchemaSide): JsonSchema | NoJsonSchema {
  // Libraries without the interface lack the member.
  const { jsonSchema } = schema["~standard"] as { readonly jsonSchema?: Converter };
  if (typeof jsonSchema?.[side] !== "function")
    return new NoJsonSchema("the schema library gives none; with valibot write toStandardJsonSchema(schema)");
  try {
    // The interface promises an object.
    return jsonSchema[side]({ target: "draft-2020-12" }) as JsonSchema;
  } catch (error) {
    return new NoJsonSchema(error instanceof Error ? error.message : "the schema library throws");
  }
}

/** Finds the schema that a reference of this document names, through references to references. */
export function resolve(schema: JsonSchema, root: JsonSchema): JsonSchema {
  let found = schema;
  for (let steps = 0; found.$ref !== undefined && steps < MAX_REFERENCES; steps++) found = find(found.$ref, root);
  return found;
}

const MAX_REFERENCES = 64;

function find(reference: string, root: JsonSchema): JsonSchema {
  let found: unknown = root;
  for (const part of reference.split("/").slice(1))
    found = Object(found)[decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~")];
  return typeof found === "object" && found !== null ? found : {};
}
