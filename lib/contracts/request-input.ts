/**
 * Reads the parts of a request that the contract of an endpoint declares, and checks each with its schema: captures, query, headers and
 * body. All faults of all parts are one 422, by paths such as `body.url` and `query.page`. A body that cannot be read is a 400, 413 or 415.
 */
import { ValidationError } from "../errors/framework-error.js";
import { readSearch } from "../http/body/body-reader.js";
import { addFieldErrors, createFieldErrors, type FieldErrors } from "../http/body/validate.js";
import { isPromise } from "../http/middleware.js";
import type { Context } from "../http/request/context.js";
import { getQuery } from "../http/request/request-target.js";
import type { Schema, SchemaIssue, SchemaResult } from "../runtime/standard-schema.js";
import { type BodyContent, chooseContent } from "./request-body.js";
import { keepTexts, type WireConverter } from "./wire-value.js";

/** A schema, and the conversion of the texts that it checks. */
export interface TextSchema {
  readonly schema: Schema;
  readonly convert: WireConverter;
}

/** The parts that a contract declares. */
export interface InputParts {
  readonly params: ReadonlyMap<string, TextSchema>;
  readonly query: TextSchema | undefined;
  /** `names` are the headers that the schema takes; `undefined` for all. */
  readonly headers: (TextSchema & { readonly names: readonly string[] | undefined }) | undefined;
  readonly body: readonly BodyContent[];
}

type PartCheck = (ctx: Context, reading: InputReading) => void | Promise<void>;

/** Gives the context its `params` and its `input`. Returns a promise if it has to wait for the body or for a schema. */
export function createInputReader(parts: InputParts): ((ctx: Context) => void | Promise<void>) | undefined {
  const checks = listChecks(parts);
  const [first, ...others] = checks;
  if (first === undefined) return undefined;
  return (ctx) => {
    const reading = new InputReading(ctx);
    const pending = others.length === 0 ? first(ctx, reading) : runAll(checks, ctx, reading);
    return pending === undefined ? reading.bind() : pending.then(() => reading.bind());
  };
}

function runAll(checks: readonly PartCheck[], ctx: Context, reading: InputReading): Promise<void> | undefined {
  const pending = checks.map((check) => check(ctx, reading)).filter((each) => each !== undefined);
  return pending.length === 0 ? undefined : Promise.all(pending).then(() => undefined);
}

function listChecks({ params, query, headers, body }: InputParts): readonly PartCheck[] {
  const checks: PartCheck[] = [...params].map(([name, part]) => createParamCheck(name, part));
  if (query !== undefined)
    checks.push((ctx, reading) => reading.check(query, readSearch(getQuery(ctx.url).slice(1)), "query"));
  if (headers !== undefined)
    checks.push((ctx, reading) => reading.check(headers, pickHeaders(ctx, headers.names), "headers"));
  if (body.length > 0) checks.push((ctx, reading) => checkBody(body, ctx, reading));
  return checks;
}

function createParamCheck(name: string, part: TextSchema): PartCheck {
  return (ctx, reading) =>
    reading.check(part, (ctx.params as Readonly<Record<string, string>>)[name], `params.${name}`, (output) =>
      reading.setParam(name, output),
    );
}

function pickHeaders({ incoming: { headers } }: Context, names: readonly string[] | undefined): object {
  const picked = Object.create(null) as Record<string, unknown>;
  for (const name of names ?? Object.keys(headers)) if (headers[name] !== undefined) picked[name] = headers[name];
  return picked;
}

async function checkBody(contents: readonly BodyContent[], ctx: Context, reading: InputReading): Promise<void> {
  const { schema, convert, read } = chooseContent(contents, ctx);
  const value = await read(ctx);
  if (schema === undefined) reading.input["body"] = value;
  else await reading.check({ schema, convert }, value, "body");
}

/** The values of one request, and the faults of its parts. */
class InputReading {
  readonly input: Record<string, unknown> = {};
  private params: Record<string, unknown> | undefined = undefined;
  private errors: FieldErrors | undefined = undefined;

  constructor(private readonly ctx: Context) {}

  check(
    { schema, convert }: TextSchema,
    value: unknown,
    place: string,
    take = (output: unknown): void => void (this.input[place] = output),
  ): void | Promise<void> {
    const faults: SchemaIssue[] = [];
    const converted = convert === keepTexts ? value : convert(value, [], faults);
    const end = (result: SchemaResult<unknown>): void => this.end(result, { converted, faults, place, take });
    const result = schema["~standard"].validate(converted);
    // Not every schema returns a promise of this realm.
    return isPromise(result) ? Promise.resolve(result).then(end) : end(result);
  }

  setParam(name: string, output: unknown): void {
    this.params ??= { ...this.ctx.params };
    this.params[name] = output;
  }

  bind(): void {
    if (this.errors !== undefined) throw new ValidationError(this.errors);
    if (this.params !== undefined) this.ctx.bindParams(this.params);
    this.ctx.bindInput(this.input);
  }

  private end(result: SchemaResult<unknown>, { converted, faults, place, take }: CheckedValue): void {
    if (result.issues === undefined && faults.length === 0) return take(result.value);
    this.errors ??= createFieldErrors();
    addFieldErrors(this.errors, faults, converted, place);
    // The schema may refuse again a text that could not be converted.
    const faulty = new Set(faults.map(getPathText));
    const others = (result.issues ?? []).filter((issue) => !faulty.has(getPathText(issue)));
    addFieldErrors(this.errors, others, converted, place);
  }
}

interface CheckedValue {
  readonly converted: unknown;
  readonly faults: readonly SchemaIssue[];
  readonly place: string;
  readonly take: (output: unknown) => void;
}

function getPathText({ path = [] }: SchemaIssue): string {
  return path.map((part) => String(typeof part === "object" ? part.key : part)).join(".");
}
