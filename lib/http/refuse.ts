/**
 * Every answer that takes the place of a handler's: a refusal by a stage, the answer to an error with a status, and the 500 to an
 * unhandled error. All of them have the same head and body, whichever stage answers. Not for answers that a handler returns.
 */
import { FrameworkError } from "../errors/framework-error.js";
import { PROBLEM_CONTENT_TYPE, Problem } from "../errors/problem.js";
import { describeThrown } from "../errors/thrown-value.js";
import { currentSubscriber } from "../tracing/flow.js";
import type { Target } from "../tracing/tracing.js";
import type { HeadSnapshot } from "./answer.js";
import { discardBody } from "./body-stream.js";
import type { Context } from "./context.js";
import { Extension } from "./extension.js";
import { KoaApplication, tellListeners } from "./koa-application.js";
import { asFrameworkError, errorForMapper, isHandedOn } from "./thrown-error.js";

/** The problem that answers a request, and the error that it was made of; a stage that refuses has no error. */
export interface Refusal {
  readonly problem: Problem;
  readonly body: string;
  readonly error: unknown;
}

const LastRefusal = new Extension<Refusal>("refusal");

/** The refusal whose problem is the body now; `undefined` for any other body, and without one. @internal */
export function refusalOf(ctx: Context): Refusal | undefined {
  const refusal = LastRefusal.find(ctx);
  return refusal?.body === ctx.payload ? refusal : undefined;
}

/**
 * Answers with a status alone, to which the error mapping stage gives a body, or with a problem. Headers that are set stay. The caller
 * has made sure that the head is not sent. @internal
 */
export function refuse(ctx: Context, refusal: number | Problem, error?: unknown): void {
  ctx.deferred = undefined;
  ctx.answerNothing();
  ctx.raw.statusMessage = "";
  if (typeof refusal === "number") {
    ctx.answerStatus(refusal);
    return;
  }
  const body = refusal.text();
  ctx.answerStatus(refusal.status);
  ctx.answerBody(body, PROBLEM_CONTENT_TYPE);
  LastRefusal.set(ctx, { problem: refusal, body, error });
}

/** Headers that describe the body or its freshness, and are wrong for the error that takes its place. A policy describes no body. */
const OF_THE_BODY =
  /^(?:content-(?!security-policy)|transfer-encoding$|etag$|last-modified$|cache-control$|expires$|accept-ranges$|location$)/i;

/**
 * Answers an error with its status, headers and problem. The caller has made sure that the head is not sent. `thrown` is the value that
 * the error stands for. @internal
 */
export function refuseWithError(
  ctx: Context,
  error: FrameworkError,
  withDetail: boolean,
  thrown: unknown = error,
): void {
  const { raw } = ctx;
  for (const name of raw.getHeaderNames()) if (OF_THE_BODY.test(name)) raw.removeHeader(name);
  const headers = error.headers ?? {};
  for (const name of Object.keys(headers)) raw.setHeader(name, headers[name] ?? "");
  refuse(ctx, Problem.from(error, withDetail), errorForMapper(error, thrown));
}

/** Answers instead of the generic problem; returns whether it did. */
export type UnhandledErrorAnswer = (ctx: Context, thrown: unknown) => boolean;

/**
 * Logs an unhandled error and answers 500 with nothing of the error in it, on `head`: the headers as they were when the request came to
 * the stage that answers. Once the head is sent it can only end the connection, so that the client sees a body that is cut off. @internal
 */
export function answerUnhandledError(
  ctx: Context,
  thrown: unknown,
  head: HeadSnapshot,
  log: Target,
  answer?: UnhandledErrorAnswer,
): void {
  if (ctx.headIsSent) {
    report(ctx, "response failed", thrown, log);
    discardBody(ctx.payload);
    ctx.raw.destroy();
    return;
  }
  report(ctx, "panic", thrown, log);
  ctx.restoreHead(head);
  refuse(ctx, 500);
  if (answer?.(ctx, thrown) !== true) refuse(ctx, new Problem(500));
}

/** Logs a failure of work that the chain no longer waits for, since the answer is decided. @internal */
export function reportLate(ctx: Context, thrown: unknown, log: Target): void {
  if (isHandedOn(ctx, thrown)) return;
  if (asFrameworkError(ctx, thrown) === undefined) report(ctx, "late failure", thrown, log);
  else log.warn("late failure", describeThrown(thrown));
}

function report(ctx: Context, what: string, thrown: unknown, log: Target): void {
  const { app } = ctx;
  if (!(app instanceof KoaApplication && app.hasLogged(ctx, thrown))) {
    log.error(what, describeThrown(thrown));
    if (currentSubscriber() === undefined) ctx.unheard?.(what, thrown);
  }
  tellListeners(ctx, thrown);
}
