/**
 * The boundary between the application's own layers and the framework's stages: an error with a status becomes an answer here, and
 * what `ctx.body` holds becomes text, bytes or a stream. A panic passes. Always there, also in a bare application.
 */
import { ClientGoneError, type FrameworkError } from "../errors/framework-error.js";
import { Deferred, settleBody } from "../http/returned-value.js";
import { asFrameworkError } from "../http/thrown-error.js";
import type { Context } from "../http/context.js";
import type { Run } from "../http/middleware.js";
import { profile } from "../runtime/profile.js";
import { checkFinalStatus, checkStatusMessage } from "../http/head.js";
import { tracing } from "../tracing/tracing.js";
import { answerUnhandledError, refuseWithError } from "../http/refuse.js";
import { send } from "../http/send.js";
import { discardBody } from "../http/body-stream.js";

const log = tracing.target("framework::http::error");

/** What becomes of a value that a stage further out would resolve: nothing here, where that stage is on. */
export type Unresolved = (ctx: Context, deferred: Deferred) => void;

export function errorBoundary(inner: Run, unresolved: Unresolved): Run {
  return (ctx) => {
    // While a stage waited for something the client left: nothing of the application is to begin for it.
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

/** Whoever was handed Node's response may have written anything onto it; what cannot be sent is a panic while panics are caught. */
function checkByHand({ raw, headIsSent, isWrittenByHand }: Context): void {
  if (headIsSent || isWrittenByHand) return;
  checkFinalStatus(raw.statusCode);
  if (raw.statusMessage) checkStatusMessage(raw.statusMessage);
}

/** What a callback reported through Koa's `onerror` while the handler was at work. */
function takeLateError(ctx: Context): unknown {
  const { lateError } = ctx;
  ctx.lateError = undefined;
  return lateError?.error;
}

function caught(ctx: Context, thrown: unknown): void {
  const error = asFrameworkError(ctx, thrown);
  const { headIsSent } = ctx;
  // An answer that is sealed or begun cannot become another; after the client has left there is nothing to fail.
  if (error === undefined || !ctx.mayChange || (headIsSent && !(error instanceof ClientGoneError))) throw thrown;
  report(error);
  if (!headIsSent) refuseWithError(ctx, error, profile === "debug" || error.status < 500);
}

function report(error: FrameworkError): void {
  const { code, status } = error;
  if (status >= 500) log.error(error.detail ?? "error", { code, status, error, stack: error.stack });
  else if (error instanceof ClientGoneError && error.cause !== undefined)
    log.debug("request refused", { code, status, error: error.cause });
  else log.debug("request refused", { code, status });
}

/**
 * The boundary outside every stage, in the place of Koa's own error handler, which would strip each header already set: whatever
 * still comes out of the chain as an exception is answered with a 500, and every answer is sent here, once.
 */
const logOfBackstop = tracing.target("framework::http::backstop");

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
    answerUnhandledError(ctx, thrown, undefined, logOfBackstop);
    if (ctx.headIsSent) ctx.finish();
    else send(ctx);
  } catch (error) {
    // An error while an error is answered: a header that Node refuses, for example. Nothing is left but to end it.
    logOfBackstop.error("response failed", { error });
    ctx.raw.destroy();
    discardBody(ctx.payload);
    ctx.finish();
  }
}
