/**
 * The two places that catch errors; every application has both. `errorBoundary` stands between the application's own layers and the
 * framework's stages: an error with a status becomes an answer, an unhandled error passes. `lastResortHandler` stands outside every stage:
 * an error that reaches it becomes a 500, and it sends every answer, once. It replaces Koa's error handler, which would remove the
 * headers that are set.
 */
import { ClientGoneError, ValidationError, type FieldError, type FrameworkError } from "../errors/framework-error.js";
import { UNREADABLE_FIELD } from "../errors/thrown-value.js";
import { Deferred, settleBody } from "../http/returned-value.js";
import { asFrameworkError, errorForMapper } from "../http/thrown-error.js";
import type { Context } from "../http/context.js";
import type { Run } from "../http/middleware.js";
import { profile } from "../runtime/profile.js";
import { checkFinalStatus, checkStatusMessage } from "../http/head.js";
import { tracing } from "../tracing/tracing.js";
import { refuseWithError } from "../http/refuse.js";
import { answerUnhandledError } from "../http/unhandled-error.js";
import { tellListeners } from "../http/koa-application.js";
import { send } from "../http/send.js";
import { discardBody } from "../http/body-stream.js";

const errorLog = tracing.target("framework::http::error");
const lastResortLog = tracing.target("framework::http::last_resort");

/** Handles a value that a stage further out turns into the answer. It does nothing if that stage is on. */
export type Unresolved = (ctx: Context, deferred: Deferred) => void;

export function errorBoundary(inner: Run, unresolved: Unresolved): Run {
  return (ctx) => {
    // The client left while a stage waited: the application must not begin to work for it.
    if (ctx.isClientGone) return undefined;
    let result: void | Promise<void>;
    try {
      result = inner(ctx);
    } catch (thrown) {
      caught(ctx, thrown);
      return undefined;
    }
    if (result === undefined) return settle(ctx, unresolved);
    return result.then(
      () => settle(ctx, unresolved),
      (thrown: unknown) => caught(ctx, thrown),
    );
  };
}

function settle(ctx: Context, unresolved: Unresolved): void {
  if (!ctx.mayChange) return;
  try {
    if (ctx.lateError !== undefined) throw takeLateError(ctx);
    if (ctx.isShared) checkByHand(ctx);
    if (ctx.deferred instanceof Deferred) unresolved(ctx, ctx.deferred);
    else settleBody(ctx);
  } catch (thrown) {
    caught(ctx, thrown);
  }
}

/** Throws if the application gave Node's response a status that cannot be sent. Here the catchPanic stage still sees the error. */
function checkByHand({ raw, headIsSent, isWrittenByHand }: Context): void {
  if (headIsSent || isWrittenByHand) return;
  checkFinalStatus(raw.statusCode);
  if (raw.statusMessage) checkStatusMessage(raw.statusMessage);
}

/** The error that a callback reported through Koa's `onerror` while the handler worked. */
function takeLateError(ctx: Context): unknown {
  const { lateError } = ctx;
  ctx.lateError = undefined;
  return lateError?.error;
}

function caught(ctx: Context, thrown: unknown): void {
  const error = asFrameworkError(ctx, thrown);
  const { headIsSent } = ctx;
  // An answer that is decided or begun cannot be replaced. After the client has left, a begun answer is no failure.
  if (error === undefined || !ctx.mayChange || (headIsSent && !(error instanceof ClientGoneError))) throw thrown;
  report(error);
  if (error.status >= 500) tellListeners(ctx, thrown);
  if (headIsSent) return;
  refuseWithError(ctx, error, profile === "debug" || error.status < 500, errorForMapper(error, thrown));
}

function report(error: FrameworkError): void {
  const { code, status } = error;
  if (status >= 500) errorLog.error(error.detail ?? "error", { code, status, error, stack: error.stack });
  else if (error instanceof ClientGoneError && error.cause !== undefined)
    errorLog.debug("request refused", { code, status, error: error.cause });
  // A developer sees at once what does not fit. In a release build the log repeats nothing of a request's body.
  else if (error instanceof ValidationError && profile === "debug")
    errorLog.info("request refused", { code, status, reason: reasonOf(error) });
  else errorLog.debug("request refused", { code, status });
}

/** Bounded, because the client chooses how many fields are wrong. In characters. */
const MAX_REASON_LENGTH = 500;
const MAX_REASON_FIELDS = 10;

/** `target: Invalid URL; slug: Too short`. */
function reasonOf({ errors }: ValidationError): string {
  try {
    const fields = Object.entries(errors).slice(0, MAX_REASON_FIELDS);
    const texts = fields.map(([path, faults]) => `${path || "body"}: ${faults.map(textOf).join(", ")}`);
    return texts.join("; ").slice(0, MAX_REASON_LENGTH);
  } catch {
    // A caller without a compiler may pass any value. The answer is still a 422.
    return UNREADABLE_FIELD;
  }
}

function textOf({ code, message = code }: FieldError): string {
  return message;
}

/** The whole chain as one call that never throws and never rejects. */
export function lastResortHandler(chain: Run): (ctx: Context) => void {
  return (ctx) => {
    try {
      const result = chain(ctx);
      if (result === undefined) finish(ctx);
      else
        result.then(
          () => finish(ctx),
          (thrown: unknown) => fail(ctx, thrown),
        );
    } catch (thrown) {
      fail(ctx, thrown);
    }
  };
}

function finish(ctx: Context): void {
  try {
    settleBody(ctx);
    send(ctx);
  } catch (thrown) {
    fail(ctx, thrown);
  }
}

function fail(ctx: Context, thrown: unknown): void {
  try {
    answerUnhandledError(ctx, thrown, undefined, lastResortLog);
    if (ctx.headIsSent) ctx.finish();
    else send(ctx);
  } catch (error) {
    // The answer to an error failed too, for example by a header that Node refuses.
    lastResortLog.error("response failed", { error });
    tellListeners(ctx, error);
    ctx.raw.destroy();
    discardBody(ctx.payload);
    ctx.finish();
  }
}
