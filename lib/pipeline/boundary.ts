/**
 * The boundary between the application's own layers and the framework's stages: an error with a status becomes an answer here, and
 * what `ctx.body` holds becomes text, bytes or a stream. A panic passes. Always there, also in a bare application.
 */
import { answerError, asFrameworkError, settleBody } from "../kernel/answer.js";
import type { Context } from "../kernel/context.js";
import type { FrameworkError } from "../kernel/errors.js";
import type { Run } from "../kernel/middleware.js";
import { profile } from "../kernel/profile.js";
import { tracing } from "../kernel/tracing.js";

const log = tracing.target("framework::http::error");

export function boundary(inner: Run): Run {
  return (ctx) => {
    try {
      const result = inner(ctx);
      if (result !== undefined)
        return result.then(
          () => settle(ctx),
          (thrown: unknown) => caught(ctx, thrown),
        );
    } catch (thrown) {
      caught(ctx, thrown);
      return undefined;
    }
    return settle(ctx);
  };
}

function settle(ctx: Context): void {
  if (ctx.sealed) return;
  if (ctx.lateError !== undefined) {
    const { error } = ctx.lateError;
    ctx.lateError = undefined;
    caught(ctx, error);
    return;
  }
  settleBody(ctx);
}

function caught(ctx: Context, thrown: unknown): void {
  const error = asFrameworkError(thrown);
  // After its answer was given, or begun, a failure is for whoever watches the late ones.
  if (error === undefined || ctx.sealed || ctx.raw.headersSent) throw thrown;
  report(error);
  answerError(ctx, error, profile === "debug" || error.status < 500);
}

function report(error: FrameworkError): void {
  const { code, status } = error;
  if (status >= 500) log.error(error.detail ?? "error", { code, status, error, stack: error.stack });
  else log.debug("request refused", { code, status });
}
