/**
 * The responses of a handler by the contract of its endpoint. A plain value gets the one status of success that the contract declares. In a
 * debug build each value is checked with its schema, and a member that the schema does not declare is an error: such a member may be a
 * secret. A release build sends the value as it is, or leaves out undeclared members.
 *
 * The output of the schema is not used: the value of the handler is sent, in both builds.
 */
import { refuseForeignCopy } from "../errors/copy.js";
import { Content } from "../endpoints/content.js";
import type { ContentDeclaration } from "../endpoints/contract.js";
import { FrameworkError } from "../errors/framework-error.js";
import { Problem } from "../errors/problem.js";
import { runSchema } from "../http/body/run-schema.js";
import { listKeys, shorten } from "../http/body/validate.js";
import { isPromise } from "../http/middleware.js";
import type { Context } from "../http/request/context.js";
import { JSON_TYPE } from "../http/response/media-type.js";
import { Reply } from "../http/response/reply.js";
import { inferType } from "../http/response/response-state.js";
import { Deferred } from "../http/response/returned-value.js";
import { isResponse } from "../http/response/web-values.js";
import type { SchemaIssue, SchemaResult } from "../runtime/standard-schema.js";
import { type DeclaredMembers, isLeaf, toJsonForm } from "./declared-members.js";
import { convertStream, findWrittenReply, hasContent, isContent, isWritten, toReply } from "./response-content.js";

/** One declared status. */
export interface ResponsePlan {
  readonly status: number;
  readonly content: ContentDeclaration;
  /** Of JSON, of the data of an event, or of a line. `undefined` where the content has no JSON Schema. */
  readonly members: DeclaredMembers | undefined;
  /** Whether the framework sends a plain value of the handler as JSON of status 200 by itself. */
  readonly isSentAsIs: boolean;
}

/** Converts the value of a handler into the value that is sent. */
export type ResponseCheck = (ctx: Context, value: unknown) => unknown;

/** `check` in a debug build, `strip` or `send` in a release build. */
export type ResponseMode = "check" | "send" | "strip";

/** Returns `undefined` where every value is sent as it is. @param route for messages */
export function createResponseCheck(
  plans: readonly ResponsePlan[],
  mode: ResponseMode,
  route: string,
): ResponseCheck | undefined {
  const success = plans.filter(({ status }) => status >= 200 && status < 300);
  const plain = success.length === 1 ? success[0] : undefined;
  const wrapped = plain?.isSentAsIs === false ? plain : undefined;
  const empty = success.find(({ content, status }) => isContent(content, "none") && status !== 204);
  const hasStreams = plans.some(({ content }) => isContent(content, "events", "json-lines"));
  if (mode === "send" && wrapped === undefined && empty === undefined && !hasStreams) return undefined;
  const converters = new Map(plans.map((plan) => [plan, createConverter(plan, mode, route)]));
  const convert = (plan: ResponsePlan, value: unknown): unknown => converters.get(plan)?.(value);
  return (ctx, value) => {
    if (isWritten(ctx, value)) {
      const reply = mode === "send" ? undefined : findWrittenReply(ctx);
      if (reply === undefined) return value;
      const written = findPlan(plans, plain, ctx, reply);
      if (written !== undefined) return convertWritten(ctx, { plan: written, reply, mode, route, convert });
      if (mode === "strip") return value;
      throw createStatusError(ctx, reply, route);
    }
    if (!(value instanceof Reply || value instanceof Deferred)) refuseForeignCopy(value);
    const decided =
      value === undefined && ctx.givenStatus === undefined ? empty : isPlain(ctx, value) ? wrapped : undefined;
    const given = decided === undefined ? value : toReply(decided, value);
    const plan = findPlan(plans, plain, ctx, given);
    if (mode === "check" && given === undefined) refuseNothing(plan, route);
    if (plan !== undefined) return convert(plan, given);
    if (mode !== "check") return given;
    if (success.length > 1 && isPlain(ctx, given)) throw createError(route, describePlain(success));
    throw createStatusError(ctx, given, route);
  };
}

interface WrittenResponse {
  readonly plan: ResponsePlan;
  readonly reply: Reply;
  readonly mode: ResponseMode;
  readonly route: string;
  readonly convert: (plan: ResponsePlan, value: unknown) => unknown;
}

/** @returns `undefined`, which leaves the response on the context */
function convertWritten(ctx: Context, { plan, reply, mode, route, convert }: WrittenResponse): unknown {
  if (isContent(plan.content, "redirect") && ctx.raw.hasHeader("Location")) return undefined;
  if (mode === "check" && isContent(plan.content, "events", "json-lines", "page"))
    throw createError(route, `nothing, and wrote the response ${plan.status} to the context: return it`);
  const converted = convert(plan, reply);
  if (isPromise(converted)) return Promise.resolve(converted).then(() => undefined);
  if (mode === "strip" && converted instanceof Reply && converted.isJson) ctx.setBody(converted.value);
  return undefined;
}

/** Without a value the framework sends a 204. */
function refuseNothing(plan: ResponsePlan | undefined, route: string): void {
  if (plan === undefined || isContent(plan.content, "none")) return;
  const cure = `return a value, such as null, or declare 204: content.none()`;
  throw createError(route, `nothing, for which 204 is sent and not the declared ${plan.status}: ${cure}`);
}

/** Whether the contract decides the status and the media type of a value. */
function isPlain(ctx: Context, value: unknown): boolean {
  if (value === undefined || ctx.givenStatus !== undefined) return false;
  return !(value instanceof Reply || value instanceof Deferred || isResponse(Object(value)));
}

function findPlan(
  plans: readonly ResponsePlan[],
  plain: ResponsePlan | undefined,
  ctx: Context,
  value: unknown,
): ResponsePlan | undefined {
  if (value instanceof Deferred) return findDeferredPlan(plans, value, value.findStatus(ctx));
  const status = value instanceof Reply ? value.statusCode : ctx.givenStatus;
  if (status !== undefined) return plans.find((plan) => plan.status === status) ?? findFilePlan(plans, status);
  return value === undefined ? (plans.find((plan) => plan.status === 204) ?? plain) : plain;
}

/** An endpoint may declare several pages, and a redirect. */
function findDeferredPlan(
  plans: readonly ResponsePlan[],
  value: Deferred,
  status: number | undefined,
): ResponsePlan | undefined {
  const declared = plans.filter(({ content }) => isContent(content, "redirect", "page"));
  const fitting = declared.filter(({ content }) => content instanceof Content && hasContent(content, value));
  if (fitting.length === 0) return declared[0];
  return fitting.find((plan) => status === undefined || plan.status === status);
}

/** A file has two more statuses: 206 for a range of it, and 304 where it has not changed. */
function findFilePlan(plans: readonly ResponsePlan[], status: number): ResponsePlan | undefined {
  return status === 206 || status === 304 ? plans.find(({ content }) => isContent(content, "file")) : undefined;
}

/** Checks or strips the value of one status. */
function createConverter(plan: ResponsePlan, mode: ResponseMode, route: string): (value: unknown) => unknown {
  const { content } = plan;
  const convert = createPayloadConverter(plan, mode, route);
  if (content instanceof Content && (content.kind === "events" || content.kind === "json-lines"))
    return (value) => convertStream(content, value, convert) ?? refuseContent(plan, mode, route, value);
  if (content instanceof Content)
    return (value) => (hasContent(content, value) ? value : refuseContent(plan, mode, route, value));
  return (value) => {
    // A problem is sent whole: its members are those that the application has chosen.
    if (mode === "strip" && (!isSentAsJson(value) || getValue(value) instanceof Problem)) return value;
    if (mode === "check" && !isSentAsJson(value))
      throw createError(
        route,
        `a value for ${plan.status} that is not sent as JSON: return the value of its schema, or Reply.json(value, ${plan.status})`,
      );
    const converted = convert?.(getValue(value));
    if (isPromise(converted)) return Promise.resolve(converted).then(() => value);
    if (mode !== "strip") return value;
    return value instanceof Reply ? value.withValue(converted) : converted;
  };
}

/** @returns the value as it is sent: without undeclared members in a release build that strips, unchanged in a debug build */
function createPayloadConverter(
  { members, content, status }: ResponsePlan,
  mode: ResponseMode,
  route: string,
): ((payload: unknown) => unknown) | undefined {
  if (mode === "send") return undefined;
  if (mode === "strip") return (payload) => (members === undefined ? payload : members(payload, ignore));
  const schema = content instanceof Content ? content.schema : content;
  return (given) => {
    const payload = toCheckedValue(given);
    members?.(payload, (path) => {
      throw createError(route, `a value for ${status} with the undeclared member ${shorten(path)}`);
    });
    const result = schema === undefined ? undefined : runSchema(schema, payload, `the response ${status}`);
    const end = (settled: SchemaResult<unknown> | undefined): unknown => {
      if (settled?.issues === undefined) return given;
      throw createError(route, `a value for ${status} that its schema refuses at ${listPaths(settled.issues)}`);
    };
    return isPromise(result) ? result.then(end) : end(result);
  };
}

function ignore(): void {}

function refuseContent({ content, status }: ResponsePlan, mode: ResponseMode, route: string, value: unknown): unknown {
  if (mode !== "check" || !(content instanceof Content)) return value;
  throw createError(
    route,
    `a value for ${status} that is not its content, ${[content.kind, content.type ?? []].flat().join(" of ")}`,
  );
}

/** A text, bytes, a stream and a `Response` of the web are not. */
function isSentAsJson(value: unknown): boolean {
  if (value instanceof Reply) return value.isJson;
  return value === undefined || value === null || inferType(value) === JSON_TYPE;
}

function getValue(value: unknown): unknown {
  return value instanceof Reply ? value.value : value;
}

/** A row of an ORM and a problem are checked as the object that JSON has of them; a date stays a date. */
function toCheckedValue(given: unknown): unknown {
  const json = isLeaf(given) ? given : toJsonForm(given);
  return isLeaf(json) ? given : json;
}

const MAX_PATHS = 10;

function listPaths(issues: readonly SchemaIssue[]): string {
  const paths = new Set(issues.slice(0, MAX_PATHS).map((issue) => listKeys(issue).map(String).join(".")));
  return [...paths].map((path) => shorten(path) || "its root").join(", ");
}

function describeStatus(value: unknown, ctx: Context): string {
  if (value instanceof Deferred) {
    const known = value.findStatus(ctx);
    return known === undefined ? `a ${value.kind}` : `a ${value.kind} with the status ${known}`;
  }
  const status = value instanceof Reply ? value.statusCode : (ctx.givenStatus ?? (value === undefined ? 204 : 200));
  return `the status ${status}`;
}

function createStatusError(ctx: Context, given: unknown, route: string): FrameworkError {
  return createError(route, `${describeStatus(given, ctx)}, which "responses" does not declare`);
}

function describePlain(success: readonly ResponsePlan[]): string {
  const statuses = success.map(({ status }) => status);
  return `a plain value, while several statuses of success are declared, ${statuses.join(" and ")}: return Reply.json(value, ${statuses[0]}), or a reply of another one`;
}

function createError(route: string, fault: string): FrameworkError {
  return new FrameworkError(`the handler of ${route} returned ${fault}`, { code: "E_RESPONSE" });
}
