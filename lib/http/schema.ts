/**
 * The Standard Schema interface (version 1), which zod, valibot, arktype and others implement: the framework reads a request with
 * any of them and depends on none. Written after https://standardschema.dev; only the part that is used here.
 */
import { ValidationError, type FieldError } from "../errors/framework-error.js";

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

/** The schema's output for a value; 422 with one entry a failing field otherwise. The values themselves are never repeated. */
export async function validate(schema: Schema, value: unknown): Promise<unknown> {
  const result = await schema["~standard"].validate(value);
  if (result.issues === undefined) return result.value;
  throw new ValidationError(fieldErrors(result.issues));
}

function fieldErrors(issues: readonly SchemaIssue[]): Record<string, FieldError[]> {
  // Field names come from the request: without a prototype none of them can mean something.
  const errors = Object.create(null) as Record<string, FieldError[]>;
  for (const issue of issues) {
    const path = (issue.path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join(".");
    (errors[path] ??= []).push({ code: codeOf(issue), message: issue.message });
  }
  return errors;
}

/** Vendors add a code of their own (zod does); where there is none, `invalid`. */
function codeOf(issue: SchemaIssue): string {
  const { code } = issue as { readonly code?: unknown };
  return typeof code === "string" && code !== "" ? code : "invalid";
}
