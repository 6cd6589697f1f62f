/**
 * The interface of Standard Schema (version 1), https://standardschema.dev, as far as the framework uses it. zod, valibot, arktype and
 * others implement it: the framework checks values with any of them and depends on none.
 */
export interface Schema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

export type SchemaResult<Output> =
  { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] };

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export type InferOutput<S extends Schema> = NonNullable<S["~standard"]["types"]>["output"];

export type InferInput<S extends Schema> = NonNullable<S["~standard"]["types"]>["input"];

/** Whether a value is a schema. Those of arktype are functions. */
export function isSchema(value: unknown): value is Schema {
  if ((typeof value !== "object" || value === null) && typeof value !== "function") return false;
  return typeof (value as Partial<Schema>)["~standard"]?.validate === "function";
}

/**
 * States the JSON Schema of a schema whose library gives none, such as one of a date. The conversion of texts and API documents read it;
 * the checks stay those of the schema. As a member of an object of zod it keeps what it states.
 *
 * @param jsonSchema of draft 2020-12, for the input of the schema
 * @example
 * Get("/", { responses: { 200: withJsonSchema(z.date(), { type: "string", format: "date-time" }) } });
 */
export function withJsonSchema<S extends Schema>(
  schema: S,
  jsonSchema: Readonly<Record<string, unknown>>,
): Schema<InferInput<S>, InferOutput<S>> {
  const give = (): object => jsonSchema;
  const standard = { ...schema["~standard"], jsonSchema: { input: give, output: give } };
  // An object of zod needs a schema of zod, and reads what its `meta` states; `meta` returns a copy.
  const { meta } = schema as { readonly meta?: unknown };
  const copy: unknown = typeof meta === "function" ? Reflect.apply(meta, schema, [jsonSchema]) : {};
  return Object.defineProperty(Object(copy), "~standard", { value: standard });
}
