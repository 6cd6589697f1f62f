/**
 * The responses of a handler by the contract of its endpoint. A plain value gets the one status of success that the contract declares. In a
 * debug build each value is checked with its schema, and a member that the schema does not declare is an error: such a member may be a
 * secret. A release build sends the value as it is, or leaves out undeclared members.
 *
 * The output of the schema is not used: the value of the handler is sent, in both builds.
 */
import { Content } from "../endpoints/content.js";
import type { ContentDeclaration } from "../endpoints/contract.js";
import { FrameworkError } from "../errors/framework-error.js";
import { Problem } from "../errors/problem.js";
import { isPromise } from "../http/middleware.js";
import type { Context } from "../http/request/context.js";
import { Reply } from "../http/response/reply.js";
import { Deferred } from "../http/response/returned-value.js";
import { isResponse } from "../http/response/web-values.js";
import { isSchema, type SchemaIssue, type SchemaResult } from "../runtime/standard-schema.js";
import type { DeclaredMembers } from "./declared-members.js";

/** One declared status. */
export interface ResponsePlan {
  readonly status: number;
  readonly content: ContentDeclaration;
  /** `undefined` where the content has no JSON Schema. */
  readonly members: DeclaredMembers | undefined;
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
  const needsStatus = plain !== undefined && plain.status !== 200;
  if (mode === "send" && !needsStatus) return undefined;
  const convert = mode === "strip" ? strip : mode === "check" ? createChecker(route) : undefined;
  return (ctx, value) => {
    const given = needsStatus && isPlain(ctx, value) ? Reply.json(value, plain.status) : value;
    return convert === undefined ? given : convert(findPlan(plans, plain, ctx, given), given, ctx);
  };
}

/** Whether the contract decides the status of a value. */
function isPlain(ctx: Context, value: unknown): boolean {
  if (value === undefined || value === null || ctx.givenStatus !== undefined) return false;
  return !(value instanceof Reply || value instanceof Deferred || isResponse(Object(value)));
}

function findPlan(
  plans: readonly ResponsePlan[],
  plain: ResponsePlan | undefined,
  ctx: Context,
  value: unknown,
): ResponsePlan | undefined {
  if (value instanceof Deferred) return plans.find(({ content }) => isContent(content, "redirect", "page"));
  const status = value instanceof Reply ? value.statusCode : ctx.givenStatus;
  if (status !== undefined) return plans.find((plan) => plan.status === status);
  return value === undefined ? (plans.find(({ content }) => isContent(content, "none")) ?? plain) : plain;
}

function isContent(declared: ContentDeclaration, ...kinds: readonly Content["kind"][]): boolean {
  return declared instanceof Content && kinds.includes(declared.kind);
}

/** Leaves out the members that the schema does not declare. */
function strip(plan: ResponsePlan | undefined, value: unknown): unknown {
  if (plan?.members === undefined) return value;
  if (!(value instanceof Reply)) return plan.members(value, ignore);
  return value.isJson && !(value.value instanceof Problem) ? value.withValue(plan.members(value.value, ignore)) : value;
}

function ignore(): void {}

function createChecker(route: string): (plan: ResponsePlan | undefined, value: unknown, ctx: Context) => unknown {
  return (plan, value, ctx) => {
    // The handler has written the response to the context itself.
    if (value === undefined && ctx.hasResponse) return value;
    if (plan === undefined)
      throw createError(route, `${describeStatus(value, ctx)}, which "responses" does not declare`);
    const { content, members, status } = plan;
    const payload = getPayload(value);
    if (!isSchema(content)) {
      if (!hasContent(content, value, payload))
        throw createError(route, `a value for ${status} that is not its content, ${content.kind}`);
      return value;
    }
    members?.(payload, (path) => {
      throw createError(route, `a value for ${status} with the undeclared member ${path}`);
    });
    const result = content["~standard"].validate(payload);
    const end = (settled: SchemaResult<unknown>): unknown => {
      if (settled.issues === undefined) return value;
      throw createError(route, `a value for ${status} that its schema refuses at ${listPaths(settled.issues)}`);
    };
    return isPromise(result) ? Promise.resolve(result).then(end) : end(result);
  };
}

function getPayload(value: unknown): unknown {
  const payload = value instanceof Reply ? value.value : value;
  return payload instanceof Problem ? payload.toJSON() : payload;
}

function hasContent({ kind }: Content, value: unknown, payload: unknown): boolean {
  if (kind === "none") return payload === undefined;
  if (kind === "text") return typeof payload === "string";
  if (kind === "redirect" || kind === "page") return value instanceof Deferred;
  return payload !== undefined && payload !== null;
}

function listPaths(issues: readonly SchemaIssue[]): string {
  const paths = issues.map(({ path = [] }) =>
    path.map((part) => String(typeof part === "object" ? part.key : part)).join("."),
  );
  return [...new Set(paths)].map((path) => path || "its root").join(", ");
}

function describeStatus(value: unknown, ctx: Context): string {
  if (value instanceof Deferred) return `a ${value.kind}`;
  const status = value instanceof Reply ? value.statusCode : (ctx.givenStatus ?? (value === undefined ? 204 : 200));
  return `the status ${status}`;
}

function createError(route: string, fault: string): FrameworkError {
  return new FrameworkError(`the handler of ${route} returned ${fault}`, { code: "E_RESPONSE" });
}
