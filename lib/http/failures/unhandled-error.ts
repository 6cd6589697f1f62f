/**
 * The response to an unhandled error, a 500 that contains nothing of the error, and the log of failures that come too late for a response.
 */
import { findForeignError } from "../../errors/copy.js";
import type { FrameworkError } from "../../errors/framework-error.js";
import { describeThrown } from "../../errors/thrown-value.js";
import { Problem } from "../../errors/problem.js";
import type { Target } from "../../tracing/tracing.js";
import type { HeadSnapshot } from "../response/response-state.js";
import { discardBody } from "../response/body-stream.js";
import type { Context } from "../request/context.js";
import { reportUnlogged, getRouteField } from "./failed-request.js";
import { ErrorEvents, notifyErrorListeners } from "../koa/error-events.js";
import { refuse } from "./refuse.js";
import { toFrameworkError, isKnownFailure } from "./thrown-error.js";

/** Responds in place of the generic problem; returns whether it did. */
export type UnhandledErrorResponder = (ctx: Context, thrown: unknown) => boolean;

/**
 * Logs an unhandled error and responds with a 500 that contains nothing of the error. `head` has the headers at the time when the request
 * came to the stage that responds; they are restored first. Once the head is sent, the function can only end the connection, so that the
 * client sees a body that is cut off. @internal
 */
export function respondToUnhandledError(
  ctx: Context,
  thrown: unknown,
  head: HeadSnapshot,
  log: Target,
  respond?: UnhandledErrorResponder,
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
  if (respond?.(ctx, thrown) !== true) refuse(ctx, new Problem(500));
}

/** Logs a failure of work for which the chain no longer waits, since the response is decided. @internal */
export function reportLate(ctx: Context, thrown: unknown, log: Target): void {
  if (isKnownFailure(ctx, thrown)) return;
  if (toFrameworkError(ctx, thrown) === undefined) report(ctx, "late failure", thrown, log);
  else log.warn("late failure", describeThrown(thrown));
}

function report(ctx: Context, message: string, thrown: unknown, log: Target): void {
  const { app } = ctx;
  if (!(app instanceof ErrorEvents && app.hasLogged(ctx, thrown))) {
    const foreign = findForeign(thrown);
    log.error(message, { ...describeThrown(thrown), ...(foreign && { error: foreign }), ...getRouteField(ctx) });
    reportUnlogged(ctx, message, foreign ?? thrown);
  }
  notifyErrorListeners(ctx, thrown);
}

/** A 404 of another copy of the package is an unhandled error, and its message alone does not say why. */
function findForeign(thrown: unknown): FrameworkError | undefined {
  try {
    return findForeignError(thrown);
  } catch {
    return undefined;
  }
}
