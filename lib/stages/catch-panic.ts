/**
 * Stage layer: an unhandled error becomes a 500 that every stage further out sees as an answer, with its headers and its line in the
 * log. Errors with a status (`FrameworkError`, Koa's `HttpError`) became answers further in. Without this stage the last-resort handler
 * answers 500, and log and metrics see only the exception.
 */
import type { Context } from "../http/context.js";
import { Layer, type Run } from "../http/middleware.js";
import { answerUnhandledError, type UnhandledErrorAnswer } from "../http/refuse.js";
import { tracing } from "../tracing/tracing.js";

const log = tracing.target("framework::http::catch_panic");

export class CatchPanicLayer extends Layer {
  /** @param answer called first, with status 500 already set; for error pages of the application. */
  constructor(private readonly answer?: UnhandledErrorAnswer) {
    super();
  }

  override wrap(inner: Run): Run {
    return (ctx) => {
      const head = ctx.headSnapshot();
      try {
        const result = inner(ctx);
        if (result !== undefined) return result.then(undefined, (thrown: unknown) => this.caught(ctx, thrown, head));
      } catch (thrown) {
        this.caught(ctx, thrown, head);
      }
      return undefined;
    };
  }

  private caught(ctx: Context, thrown: unknown, head: ReturnType<Context["headSnapshot"]>): void {
    answerUnhandledError(ctx, thrown, head, log, this.answer);
  }
}
