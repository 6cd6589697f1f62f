/**
 * The check of a value with a schema, and the fields that failed as the response names them. No value is part of a response: a message
 * that quotes one is replaced.
 */
import { ValidationError, type FieldError } from "../../errors/framework-error.js";
import type { Schema, SchemaIssue } from "../../runtime/standard-schema.js";

/** The faults of fields by their dotted path. It has no prototype, because the names come from the request. */
export type FieldErrors = Record<string, FieldError[]>;

/** The schema's output for a value. Throws an error with status 422 and one entry for each failing field, without the values. */
export async function validate(schema: Schema, value: unknown): Promise<unknown> {
  const result = await schema["~standard"].validate(value);
  if (result.issues === undefined) return result.value;
  throw new ValidationError(addFieldErrors(createFieldErrors(), result.issues, value));
}

/** The faults of a request that the contract of its endpoint refuses. Their paths start with the part: `body.url`. */
export class InputValidationError extends ValidationError {
  constructor(errors: FieldErrors) {
    super(errors);
    this.name = ValidationError.name;
  }
}

/** The faults by the names of the fields of the form, which do not name the part of the request. */
export function getFormErrors(error: ValidationError): ValidationError["errors"] {
  if (!(error instanceof InputValidationError)) return error.errors;
  const fields = createFieldErrors();
  for (const [path, faults] of Object.entries(error.errors))
    fields[path.replace(/^(?:body|query)(?:\.|$)/, "")] = [...faults];
  return fields;
}

export function createFieldErrors(): FieldErrors {
  return Object.create(null) as FieldErrors;
}

/**
 * @param value the value with the issues
 * @param place the start of each path, such as `body`
 */
export function addFieldErrors(
  errors: FieldErrors,
  issues: readonly SchemaIssue[],
  value: unknown,
  place?: string,
): FieldErrors {
  for (const issue of issues) {
    const keys = (issue.path ?? []).map((part) => (typeof part === "object" ? part.key : part));
    const path = [...(place === undefined ? [] : [place]), ...keys.map(String)].join(".");
    (errors[path] ??= []).push({ code: getCode(issue), message: toMessage(issue.message, getMember(value, keys)) });
  }
  return errors;
}

/** The code that the library of the schema adds, for example zod; else `invalid`. */
function getCode(issue: SchemaIssue): string {
  const { code } = issue as { readonly code?: unknown };
  return typeof code === "string" && code !== "" ? code : "invalid";
}

function getMember(value: unknown, keys: readonly PropertyKey[]): unknown {
  let member = value;
  for (const key of keys) {
    if (typeof member !== "object" || member === null || !Object.hasOwn(member, key)) return undefined;
    member = Reflect.get(member, key);
  }
  return member;
}

const QUOTING = "The value is not valid.";

/** Libraries quote the refused value, which may be a password. */
function toMessage(message: unknown, value: unknown): string {
  return typeof message !== "string" || quotes(message, value) ? QUOTING : message;
}

/** Shorter texts occur in messages by chance, and are no secret. */
const MIN_QUOTED = 3;
/** Libraries shorten the values that they quote. */
const MAX_COMPARED = 12;
const MAX_MEMBERS = 1000;

function quotes(message: string, value: unknown): boolean {
  const members = new Set([value]);
  for (const member of members) {
    if (typeof member === "object" && member !== null) for (const each of Object.values(member)) members.add(each);
    else if (typeof member === "string" || typeof member === "number" || typeof member === "bigint") {
      const text = String(member).slice(0, MAX_COMPARED);
      if (text.length >= MIN_QUOTED && (message.includes(text) || message.includes(JSON.stringify(text).slice(1, -1))))
        return true;
    }
    if (members.size > MAX_MEMBERS) return true;
  }
  return false;
}
