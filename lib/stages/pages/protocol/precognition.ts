/**
 * Precognition: a form asks whether its fields are valid before it is sent. The request passes every policy of the route, like the request
 * of the form itself. Then the schema checks the fields, and the handler does not run.
 *
 * A route takes part with `precognitive(schema)` as its innermost middleware. Any other route refuses, because the fields could not be
 * checked there without the effect of the handler. The client omits files unless its option `validateFiles` is set: then the schema gets
 * them as the handler would, and they are removed with the response. That needs `Uploads` of `@stagecraft/framework/uploads`.
 *
 * @example
 * @links.create
 * @Middleware(SignedIn, precognitive(NewLink))
 * async create(ctx: Context) { const link = await ctx.json(NewLink); … }
 */
import { BadRequestError, type ValidationError } from "../../../errors/framework-error.js";
import { Problem } from "../../../errors/problem.js";
import type { Context } from "../../../http/request/context.js";
import type { HeadCompleter } from "../../../http/response/response-head.js";
import { StageLayer, type Middleware, type Next, type Run } from "../../../http/middleware.js";
import { refuse } from "../../../http/failures/refuse.js";
import { Reply } from "../../../http/response/reply.js";
import type { Schema, SchemaIssue } from "../../../runtime/standard-schema.js";
import { createFieldErrors, type FieldErrors, getCode, listKeys } from "../../../http/body/validate.js";
import { runSchema } from "../../../http/body/run-schema.js";
import { NO_UPLOADS } from "../../../http/body/uploads.js";
import { VaryCompleter } from "../../../http/response/vary.js";

/** In bytes, and in names. */
const MAX_LIST_BYTES = 8192;
const MAX_NAMES = 64;

const VARY = new VaryCompleter("Precognition");

/** The client throws at a response without this header, so every response has it, whichever stage sends it. */
const MARK: HeadCompleter = { complete: (_exchange, head) => head.set("Precognition", "true") };

function isPrecognition({ incoming }: Context): boolean {
  return incoming.headers["precognition"] === "true";
}

/** @internal */
export function markPrecognition(ctx: Context): void {
  if (isPrecognition(ctx)) ctx.completeHeadWith(MARK);
}

/** A middleware that checks the precognition of a form by its schema, and passes every other request on. */
export function precognitive(schema: Schema): Middleware {
  return new Precognitive(schema);
}

class Precognitive implements Middleware {
  constructor(private readonly schema: Schema) {}

  handle(ctx: Context, next: Next): unknown {
    ctx.completeHeadWith(VARY);
    return isPrecognition(ctx) ? this.validate(ctx) : next();
  }

  private async validate(ctx: Context): Promise<Reply> {
    const only = readFieldNames(ctx.get("Precognition-Validate-Only"));
    const { issues = [] } = await runSchema(this.schema, await readInput(ctx), "a form");
    const faults = collectFaults(issues, only);
    if (Object.keys(faults).length > 0) {
      const errors = toMessages(ctx.problemTranslator?.translateFields(ctx, faults) ?? faults);
      return Reply.json({ message: "The given data was invalid.", errors }, 422);
    }
    return Reply.noContent().header("Precognition-Success", "true");
  }
}

/** The fields as the handler would read them. */
function readInput(ctx: Context): unknown {
  const { "content-type": type = "", "content-length": length, "transfer-encoding": coding } = ctx.incoming.headers;
  if (coding === undefined && (length === undefined || length === "0")) return ctx.search();
  if (/^application\/x-www-form-urlencoded\b/i.test(type)) return ctx.form();
  return /^multipart\/form-data\b/i.test(type) && ctx.uploadReader !== NO_UPLOADS ? ctx.uploads() : ctx.json();
}

/** The segments of a name in the header. A `*` stands for one segment. */
type FieldName = readonly string[];

/** The names in the header; `undefined` without one. */
function readFieldNames(header: string): readonly FieldName[] | undefined {
  if (header === "") return undefined;
  const names = header.split(",", MAX_NAMES + 1).flatMap((name) => (name.trim() === "" ? [] : [name.trim()]));
  if (Buffer.byteLength(header) > MAX_LIST_BYTES || names.length > MAX_NAMES) {
    throw new BadRequestError(
      `The header precognition-validate-only has more than ${MAX_NAMES} names or ${MAX_LIST_BYTES} bytes.`,
      { code: "E_PAGE_HEADER" },
    );
  }
  return names.map((name) => name.split("."));
}

/** Not by regular expressions: a body may have a fault in each of its 100,000 items, and each fault is compared with each name. */
function isNamed(field: string, names: readonly FieldName[]): boolean {
  const segments = field.split(".");
  return names.some(
    (name) => name.length === segments.length && name.every((each, at) => isSegment(each, segments[at])),
  );
}

function isSegment(name: string, segment: string | undefined): boolean {
  return name === segment || (name === "*" && segment !== "");
}

function collectFaults(issues: readonly SchemaIssue[], only: readonly FieldName[] | undefined): FieldErrors {
  const faults = createFieldErrors();
  for (const issue of issues) {
    const field = listKeys(issue).map(String).join(".");
    if (only === undefined || isNamed(field, only))
      (faults[field] ??= []).push({ code: getCode(issue), message: issue.message });
  }
  return faults;
}

function toMessages(faults: ValidationError["errors"]): Readonly<Record<string, readonly (string | undefined)[]>> {
  // Names of fields come from the request, so `__proto__` is a name too.
  return Object.fromEntries(Object.entries(faults).map(([field, each]) => [field, each.map(({ message }) => message)]));
}

/** Innermost on every route of an application with pages: the handler of a route without a schema does not run. @internal */
export class PrecognitionGuard extends StageLayer {
  override wrap(inner: Run): Run {
    return (ctx) => {
      if (!isPrecognition(ctx)) return inner(ctx);
      refuse(ctx, Problem.of(400, "This route checks no fields in advance."));
      return undefined;
    };
  }
}
