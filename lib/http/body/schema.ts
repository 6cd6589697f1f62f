/**
 * The Standard Schema interface (version 1), https://standardschema.dev, as far as the framework uses it. zod, valibot, arktype and
 * others implement it: the framework checks a request with any of them and depends on none.
 */
import { ValidationError, type FieldError } from "../../errors/framework-error.js";

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

/** The schema's output for a value. Throws an error with status 422 and one entry for each failing field, without the values. */
export async function validate(schema: Schema, value: unknown): Promise<unknown> {
  const result = await schema["~standard"].validate(value);
  if (result.issues === undefined) return result.value;
  throw new ValidationError(toFieldErrors(result.issues));
}

function toFieldErrors(issues: readonly SchemaIssue[]): Record<string, FieldError[]> {
  // Field names come from the request. Without a prototype, a name such as `__proto__` has no special meaning.
  const errors = Object.create(null) as Record<string, FieldError[]>;
  for (const issue of issues) {
    const path = (issue.path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join(".");
    (errors[path] ??= []).push({ code: getCode(issue), message: issue.message });
  }
  return errors;
}

/** The code that the library of the schema adds, for example zod; else `invalid`. */
function getCode(issue: SchemaIssue): string {
  const { code } = issue as { readonly code?: unknown };
  return typeof code === "string" && code !== "" ? code : "invalid";
}
