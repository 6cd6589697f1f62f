/**
 * What becomes of a panic, whoever catches it: one ERROR event with the stack, and a 500 with nothing of the error in it, on the head
 * as it was when the request came to the stage that answers. After the head was sent only the connection can be ended, so that
 * the client sees a cut body.
 */
import { ClientGoneError } from "../errors/framework-error.js";
import { answerProblem, asFrameworkError } from "./returned-value.js";
import type { Context } from "./context.js";
import type { HeadSnapshot } from "./answer.js";
import { Problem } from "../errors/problem.js";
import { discardBody } from "./body-stream.js";
import { currentSubscriber } from "../tracing/flow.js";
import type { Target } from "../tracing/tracing.js";

/** Answers instead of the generic problem; returns whether it did. */
export type UnhandledErrorAnswer = (ctx: Context) => boolean;

/** @internal */
export function answerUnhandledError(
  ctx: Context,
  thrown: unknown,
  head: HeadSnapshot,
  log: Target,
  answer?: UnhandledErrorAnswer,
): void {
  if (ctx.headIsSent) {
    tell(ctx, "response failed", thrown, log);
    discardBody(ctx.payload);
    ctx.raw.destroy();
    return;
  }
  tell(ctx, "panic", thrown, log);
  ctx.deferred = undefined;
  ctx.answerNothing();
  ctx.restoreHead(head);
  ctx.answerStatus(500);
  if (answer?.(ctx) !== true) answerProblem(ctx, new Problem(500));
}

/** A failure of work that the chain no longer waits for: the answer is decided. @internal */
export function reportLate(ctx: Context, thrown: unknown, log: Target): void {
  if (isHandedOn(ctx, thrown)) return;
  if (asFrameworkError(ctx, thrown) === undefined) tell(ctx, "late failure", thrown, log);
  else log.warn("late failure", describeThrown(thrown));
}

/** Whether a failure says only what the framework knows: it ended the request itself, or the client did. @internal */
export function isHandedOn(ctx: Context, thrown: unknown): boolean {
  const error = asFrameworkError(ctx, thrown);
  if (error === undefined) return false;
  return error instanceof ClientGoneError || ctx.isAbortedWith(error) || error === ctx.incoming.errored;
}

function tell(ctx: Context, what: string, thrown: unknown, log: Target): void {
  log.error(what, describeThrown(thrown));
  if (currentSubscriber() === undefined) ctx.unheard?.(what, thrown);
}

/** The fields of an event about something thrown. Anything can be thrown, and looking at it may throw again. @internal */
export function describeThrown(thrown: unknown): Record<string, unknown> {
  try {
    return thrown instanceof Error ? { error: thrown, stack: thrown.stack } : { error: thrown };
  } catch {
    return { error: "a value that cannot be looked at" };
  }
}
