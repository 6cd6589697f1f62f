/**
 * The responses that take the place of a handler's: refusals by stages, and responses to errors with a status. All of them have the same
 * head and body, whichever stage responds. Not for responses that a handler returns, nor for unhandled errors.
 */
import { FrameworkError } from "../../errors/framework-error.js";
import { PROBLEM_CONTENT_TYPE, Problem } from "../../errors/problem.js";
import type { Context } from "../request/context.js";
import type { Exchange } from "../request/exchange.js";
import { Extension } from "../request/extension.js";

/** The problem in a response, and the error behind it. A stage that refuses has no error. */
export interface Refusal {
  readonly problem: Problem;
  readonly body: string;
  readonly error: unknown;
}

const LastRefusal = new Extension<Refusal>("refusal");

/** Returns the refusal whose problem is the current body; `undefined` for any other body, and without one. @internal */
export function findRefusal(ctx: Exchange): Refusal | undefined {
  const refusal = LastRefusal.find(ctx);
  return refusal?.body === ctx.payload ? refusal : undefined;
}

/**
 * Responds with a problem, or with a status alone, to which the error mapping stage adds a body. Headers that are set stay. The caller
 * makes sure that the head is not sent. @internal
 */
export function refuse(ctx: Context, refusal: number | Problem, error?: unknown): void {
  ctx.deferred = undefined;
  ctx.clearBody();
  ctx.raw.statusMessage = "";
  if (typeof refusal === "number") {
    ctx.setStatus(refusal);
    return;
  }
  const problem = ctx.problemTranslator?.translateProblem(ctx, refusal) ?? refusal;
  const body = problem.text();
  ctx.setStatus(problem.status);
  ctx.setBody(body, PROBLEM_CONTENT_TYPE);
  LastRefusal.set(ctx, { problem, body, error });
}

/** Headers that describe the body or its freshness, and are wrong for the error that takes its place. A policy describes no body. */
const BODY_HEADERS =
  /^(?:content-(?!security-policy)|transfer-encoding$|etag$|last-modified$|cache-control$|expires$|accept-ranges$|location$)/i;

/**
 * Responds to an error with its status, headers and problem. The caller makes sure that the head is not sent.
 *
 * @param forMapper the value that an error mapper of the application gets
 * @internal
 */
export function refuseWithError(
  ctx: Context,
  error: FrameworkError,
  showsDetail: boolean,
  forMapper: unknown = error,
): void {
  const { raw } = ctx;
  for (const name of raw.getHeaderNames()) if (BODY_HEADERS.test(name)) raw.removeHeader(name);
  const headers = error.headers ?? {};
  for (const name of Object.keys(headers)) raw.setHeader(name, headers[name] ?? "");
  refuse(ctx, Problem.from(error, showsDetail), forMapper);
}
