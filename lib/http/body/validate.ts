/**
 * The check of a value with a schema, and the fields that failed as the response names them. No value is part of a response: a message
 * that quotes one is replaced. A path may have a name that the client has chosen. The number of faults and the length of paths and messages
 * have limits, because the client chooses how much is wrong.
 */
import { ValidationError, type FieldError } from "../../errors/framework-error.js";
import type { Schema, SchemaIssue } from "../../runtime/standard-schema.js";
import type { Exchange } from "../request/exchange.js";
import { runSchema } from "./run-schema.js";

/** The faults of fields by their dotted path. It has no prototype, because the names come from the request. */
export type FieldErrors = Record<string, FieldError[]>;

/** The schema's output for a value. Throws an error with status 422 and one entry for each failing field, without the values. */
export async function validate(schema: Schema, value: unknown): Promise<unknown> {
  const result = await runSchema(schema, value, "a value");
  if (result.issues === undefined) return result.value;
  throw new ValidationError(addFieldErrors(createFieldErrors(), result.issues, value));
}

/** The faults of a request that the contract of its endpoint refuses. Their paths start with the part: `body.url`. */
export class InputValidationError extends ValidationError {
  /** @param listNames the names that the schemas declare */
  constructor(
    errors: FieldErrors,
    private readonly listNames?: () => ReadonlySet<string>,
  ) {
    super(errors);
    this.name = ValidationError.name;
  }

  /** The faults for the log, in which a `*` stands for a name that the client may have chosen. */
  getLoggedErrors(): ValidationError["errors"] {
    const names = this.listNames?.();
    const logged = createFieldErrors();
    for (const [path, faults] of Object.entries(this.errors)) {
      const shown = path.split(".").map((part) => (names?.has(part) === true || INDEX.test(part) ? part : "*"));
      // The message of a library may have the name too.
      const isWhole = shown.join(".") === path;
      (logged[shown.join(".")] ??= []).push(...faults.map((fault) => (isWhole ? fault : { code: fault.code })));
    }
    return logged;
  }
}

const INDEX = /^\d{1,4}$/;

/** The faults by the names of the fields of the form, which do not name the part of the request. */
export function getFormErrors(error: ValidationError): ValidationError["errors"] {
  if (!(error instanceof InputValidationError)) return error.errors;
  const fields = createFieldErrors();
  for (const [path, faults] of Object.entries(error.errors))
    fields[path.replace(/^(?:body|query)(?:\.|$)/, "")] = [...faults];
  return fields;
}

/** One message for each field of a form, in the language of the request. */
export function toFormMessages(exchange: Exchange, error: ValidationError): Readonly<Record<string, string>> {
  const errors = getFormErrors(error);
  const shown = exchange.problemTranslator?.translateFields(exchange, errors) ?? errors;
  // Paths come from the request. Without a prototype, a path such as `__proto__` has no special meaning.
  const messages = Object.create(null) as Record<string, string>;
  for (const [path, [first]] of Object.entries(shown)) messages[path] = first?.message ?? first?.code ?? "invalid";
  return messages;
}

export function createFieldErrors(): FieldErrors {
  return Object.create(null) as FieldErrors;
}

/** The maximum of faults in a response. The others are left out. */
const MAX_FAULTS = 100;
/** In characters. */
const MAX_PATH = 200;
/** In characters. A longer message is replaced. */
const MAX_MESSAGE = 500;

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
  let count = Object.values(errors).reduce((sum, { length }) => sum + length, 0);
  for (const { issue, keys, undeclared } of listFaults(issues)) {
    if (count++ >= MAX_FAULTS) break;
    const parts = [...(place === undefined ? [] : [place]), ...keys.map(String), ...undeclared];
    const message = toMessage(issue.message, getMember(value, keys));
    (errors[shorten(parts.join("."))] ??= []).push({ code: getCode(issue), message });
  }
  return errors;
}

/** The names of a path. */
export function listKeys({ path = [] }: SchemaIssue): readonly PropertyKey[] {
  return path.map((part) => (typeof part === "object" ? part.key : part));
}

export function shorten(path: string): string {
  return path.length > MAX_PATH ? `${path.slice(0, MAX_PATH)}…` : path;
}

interface FieldFault {
  readonly issue: SchemaIssue;
  readonly keys: readonly PropertyKey[];
  readonly undeclared: readonly string[];
}

function* listFaults(issues: readonly SchemaIssue[]): Generator<FieldFault> {
  for (const issue of issues) {
    const keys = listKeys(issue);
    const { keys: names } = issue as { readonly keys?: unknown };
    // zod names undeclared members in the message of their object, other libraries in the path.
    if (getCode(issue) === "unrecognized_keys" && Array.isArray(names))
      for (const name of names) yield { issue, keys, undeclared: [String(name)] };
    else yield { issue, keys, undeclared: [] };
  }
}

/** The code that the library of the schema adds, for example zod; else `invalid`. */
export function getCode(issue: SchemaIssue): string {
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
  if (typeof message !== "string" || message.length > MAX_MESSAGE) return QUOTING;
  return new QuoteSearch(message).hasMatch(value) ? QUOTING : message;
}

/** Shorter texts occur in messages by chance, and are no secret. */
const MIN_QUOTED = 3;
/** Libraries shorten the values that they quote. */
const MAX_COMPARED = 12;
const MAX_MEMBERS = 1000;

/** Searches a message for the texts and numbers of a value, and for the names of its members. Schemas may change the case of a text. */
class QuoteSearch {
  private readonly message: string;
  /** The texts after a quotation mark: parts of a value, such as those that `JSON.parse` shows around a fault. */
  private readonly quoted: readonly string[];

  constructor(message: string) {
    this.message = message.toLowerCase();
    const parts = [...this.message.matchAll(/["'`]([^"'`\\]+)/g)].map(([, part = ""]) => part.trim());
    this.quoted = parts.filter(({ length }) => length >= MIN_QUOTED);
  }

  hasMatch(value: unknown): boolean {
    const members = new Set([value]);
    for (const member of members) {
      if (typeof member === "object" && member !== null) {
        if (Object.keys(member).some((name) => this.showsPart(name.toLowerCase()))) return true;
        for (const each of Object.values(member)) members.add(each);
      } else if (this.hasText(member)) return true;
      if (members.size > MAX_MEMBERS) return true;
    }
    return false;
  }

  private hasText(member: unknown): boolean {
    if (typeof member !== "string" && typeof member !== "number" && typeof member !== "bigint") return false;
    const whole = String(member).toLowerCase();
    const text = whole.trim().slice(0, MAX_COMPARED);
    if (text.length < MIN_QUOTED) return false;
    return (
      [text, JSON.stringify(text).slice(1, -1)].some((each) => this.message.includes(each)) || this.showsPart(whole)
    );
  }

  private showsPart(text: string): boolean {
    return this.quoted.some((part) => text.includes(part));
  }
}
