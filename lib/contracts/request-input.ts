/**
 * Reads the parts of a request that the contract of an endpoint declares, and checks each with its schema: captures, query, headers and
 * body. All faults of all parts are one 422, by paths such as `body.url` and `query.page`. A body that cannot be read is a 400, 413 or 415.
 */
import type { Handler } from "../endpoints/handler.js";
import { readSearch } from "../http/body/body-reader.js";
import {
  addFieldErrors,
  createFieldErrors,
  type FieldErrors,
  InputValidationError,
  listKeys,
} from "../http/body/validate.js";
import { runSchema } from "../http/body/run-schema.js";
import { isPromise } from "../http/middleware.js";
import type { Context } from "../http/request/context.js";
import { getQuery } from "../http/request/request-target.js";
import { markHandled } from "../runtime/mark-handled.js";
import type { Schema, SchemaIssue, SchemaResult } from "../runtime/standard-schema.js";
import { listPropertyNames } from "./json-schema.js";
import { createEmptyQuerySchema } from "./left-out.js";
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

/** A part, or a capture of the path. */
interface InputPart extends TextSchema {
  /** The start of the paths of its faults: `query`, `params.id`. */
  readonly place: string;
  readonly capture?: string;
}

type PartCheck = (ctx: Context, reading: InputReading) => void | Promise<void>;

/**
 * Gives the context its `params` and its `input`, and calls the handler. The result is that of the handler, or a promise of it if the body
 * or a schema lets it wait.
 */
export type InputReader = (ctx: Context, handler: Handler) => unknown;

/** Returns `undefined` where there is nothing to read. */
export function createInputReader(parts: InputParts): InputReader | undefined {
  const checks = listTextChecks(parts);
  const { body } = parts;
  const listNames = createNameList(parts);
  if (checks.length === 0) return body.length === 0 ? undefined : createBodyReader(body, listNames);
  if (body.length > 0) checks.push(createBodyCheck(body));
  return (ctx, handler) => {
    const reading = new InputReading(ctx, listNames);
    const pending = runAll(checks, ctx, reading);
    return pending === undefined ? reading.finish(handler) : pending.then(() => reading.finish(handler));
  };
}

/** The names that a contract declares: those that the log may show of a request. */
type ListNames = () => ReadonlySet<string>;

/** Reads the JSON Schemas at the first fault, because few endpoints are ever asked for them. */
function createNameList({ params, query, headers, body }: InputParts): ListNames {
  let names: Set<string> | undefined;
  return () => {
    if (names !== undefined) return names;
    const places = ["body", "headers", "params", "query", ...params.keys()];
    const schemas = [...params.values(), query, headers, ...body].flatMap((part) => part?.schema ?? []);
    const fields = [...schemas, ...body.flatMap(({ texts }) => texts ?? [])].flatMap(listPropertyNames);
    return (names = new Set([...places, ...fields, ...body.flatMap(({ files = [] }) => files)]));
  };
}

/** The reader of a body alone: each promise more would cost as much as the check of a small body. */
function createBodyReader(contents: readonly BodyContent[], listNames: ListNames): InputReader {
  return (ctx, handler) => {
    const content = chooseContent(contents, ctx);
    return content.read(ctx).then((value) => {
      const reading = new InputReading(ctx, listNames);
      const pending = checkBody(content, value, reading);
      return pending === undefined ? reading.finish(handler) : pending.then(() => reading.finish(handler));
    });
  };
}

function createBodyCheck(contents: readonly BodyContent[]): PartCheck {
  return async (ctx, reading) => {
    const content = chooseContent(contents, ctx);
    await checkBody(content, await content.read(ctx), reading);
  };
}

function checkBody(content: BodyContent, value: unknown, reading: InputReading): void | Promise<void> {
  const { schema, convert } = content;
  if (schema !== undefined) return reading.check({ schema, convert, place: "body" }, value);
  reading.input["body"] = value;
}

function runAll(checks: readonly PartCheck[], ctx: Context, reading: InputReading): Promise<unknown> | undefined {
  const pending: Promise<void>[] = [];
  for (const check of checks) {
    const each = check(ctx, reading);
    // A later check may throw before this one is awaited.
    if (each !== undefined) pending.push(markHandled(each));
  }
  return pending.length === 0 ? undefined : Promise.all(pending);
}

function listTextChecks({ params, query, headers }: InputParts): PartCheck[] {
  const checks: PartCheck[] = [...params].map(([name, part]) => createParamCheck(name, part));
  if (query !== undefined) {
    const part: InputPart = { ...query, place: "query" };
    const empty: InputPart = { ...part, schema: createEmptyQuerySchema(query.schema) };
    checks.push((ctx, reading) => {
      const search = getQuery(ctx.url).slice(1);
      return reading.check(search === "" ? empty : part, readSearch(search));
    });
  }
  if (headers !== undefined) {
    const part: InputPart = { ...headers, place: "headers" };
    checks.push((ctx, reading) => reading.check(part, pickHeaders(ctx, headers.names)));
  }
  return checks;
}

function createParamCheck(name: string, compiled: TextSchema): PartCheck {
  const part: InputPart = { ...compiled, place: `params.${name}`, capture: name };
  return (ctx, reading) => reading.check(part, (ctx.params as Readonly<Record<string, string>>)[name]);
}

function pickHeaders({ incoming: { headers } }: Context, names: readonly string[] | undefined): object {
  const picked = Object.create(null) as Record<string, unknown>;
  // A schema may name a header `constructor`, which every object inherits.
  for (const name of names ?? Object.keys(headers)) if (Object.hasOwn(headers, name)) picked[name] = headers[name];
  return picked;
}

/** The values of one request, and the faults of its parts. */
class InputReading {
  readonly input: Record<string, unknown> = {};
  private params: Record<string, unknown> | undefined = undefined;
  private errors: FieldErrors | undefined = undefined;

  constructor(
    private readonly ctx: Context,
    private readonly listNames: ListNames,
  ) {}

  check(part: InputPart, value: unknown): void | Promise<void> {
    const { schema, convert } = part;
    const faults: SchemaIssue[] = [];
    const converted = convert === keepTexts ? value : convert(value, [], faults);
    const result = runSchema(schema, converted, part.place);
    if (isPromise(result)) return result.then((settled) => this.end(part, settled, converted, faults));
    this.end(part, result, converted, faults);
  }

  /** Calls the handler. @throws ValidationError with the faults of all parts */
  finish(handler: Handler): unknown {
    const { ctx, errors, params, input } = this;
    if (errors !== undefined) throw new InputValidationError(errors, this.listNames);
    if (params !== undefined) ctx.bindParams(params);
    ctx.bindInput(input);
    return handler(ctx);
  }

  private end(
    { place, capture }: InputPart,
    result: SchemaResult<unknown>,
    converted: unknown,
    faults: readonly SchemaIssue[],
  ): void {
    if (result.issues !== undefined || faults.length > 0)
      addInputErrors((this.errors ??= createFieldErrors()), converted, faults, result.issues, place);
    else if (capture === undefined) this.input[place] = result.value;
    else (this.params ??= { ...this.ctx.params })[capture] = result.value;
  }
}

/** Adds the faults of the conversion, and those that the schema has elsewhere: it may refuse again a text that could not be converted. */
export function addInputErrors(
  errors: FieldErrors,
  converted: unknown,
  faults: readonly SchemaIssue[],
  issues: readonly SchemaIssue[] = [],
  place?: string,
): FieldErrors {
  const faulty = new Set(faults.map(getPathText));
  const others = issues.filter((issue) => !faulty.has(getPathText(issue)));
  return addFieldErrors(errors, [...faults, ...others], converted, place);
}

function getPathText(issue: SchemaIssue): string {
  return listKeys(issue).map(String).join(".");
}
