/**
 * The two places that catch errors; every application has both. `ErrorBoundary` stands between the layers of the application and the stages
 * of the framework: an error with a status becomes a response, an unhandled error passes. `lastResortHandler` stands outside every stage:
 * an error that reaches it becomes a 500, and it sends every response, once. It replaces Koa's error handler, which would remove the
 * headers that are set.
 */
import { Deferred, settleBody } from "../http/response/returned-value.js";
import { respondToThrown } from "../http/failures/thrown-response.js";
import type { Context } from "../http/request/context.js";
import { StageLayer, type Run } from "../http/middleware.js";
import { checkFinalStatus, checkStatusMessage } from "../http/response/head.js";
import { tracing } from "../tracing/tracing.js";
import { respondToUnhandledError } from "../http/failures/unhandled-error.js";
import { notifyErrorListeners } from "../http/koa/error-events.js";
import { send } from "../http/response/send.js";
import { discardBody } from "../http/response/body-stream.js";

const lastResortLog = tracing.target("framework::http::last_resort");

/** Handles a value that a stage further out converts into the response. It does nothing if that stage is on. */
export type DeferredHandler = (ctx: Context, deferred: Deferred) => void;

export class ErrorBoundary extends StageLayer {
  constructor(private readonly handleDeferred: DeferredHandler) {
    super();
  }

  override wrap(inner: Run): Run {
    const { handleDeferred } = this;
    return (ctx) => {
      // The client left while a stage waited: the application must not start to work for it.
      if (ctx.isClientGone) return undefined;
      let result: void | Promise<void>;
      try {
        result = inner(ctx);
      } catch (thrown) {
        respondToThrown(ctx, thrown);
        return undefined;
      }
      if (result === undefined) return settle(ctx, handleDeferred);
      return result.then(
        () => settle(ctx, handleDeferred),
        (thrown: unknown) => respondToThrown(ctx, thrown),
      );
    };
  }
}

function settle(ctx: Context, handleDeferred: DeferredHandler): void {
  if (!ctx.mayChange) return;
  try {
    if (ctx.lateError !== undefined) throw takeLateError(ctx);
    if (ctx.isExposed) checkNodeStatus(ctx);
    if (ctx.deferred instanceof Deferred) handleDeferred(ctx, ctx.deferred);
    else settleBody(ctx);
  } catch (thrown) {
    respondToThrown(ctx, thrown);
  }
}

/** Throws if the application gave Node's response a status that cannot be sent. Here the catchPanic stage still sees the error. */
function checkNodeStatus({ raw, headIsSent, isWrittenByHand }: Context): void {
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
    respondToUnhandledError(ctx, thrown, undefined, lastResortLog);
    if (ctx.headIsSent) ctx.finish();
    else send(ctx);
  } catch (error) {
    // The response to an error failed too, for example by a header that Node refuses.
    lastResortLog.error("response failed", { error });
    notifyErrorListeners(ctx, error);
    ctx.raw.destroy();
    discardBody(ctx.payload);
    ctx.finish();
  }
}
