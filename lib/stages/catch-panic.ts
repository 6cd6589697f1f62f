/**
 * Stage layer: a panic becomes a 500 that every stage further out sees as an answer, with its headers and its line in the log.
 * Errors with a status (`FrameworkError`, Koa's `HttpError`) never get here; they became answers further in.
 * Without it a panic still gets a 500 from the backstop, but log and metrics learn of it only as an exception passing by.
 */
import type { Context } from "../http/context.js";
import { Layer, type Run } from "../http/middleware.js";
import { answerUnhandledError, type UnhandledErrorAnswer } from "../http/refuse.js";
import { tracing } from "../tracing/tracing.js";

const log = tracing.target("framework::http::catch_panic");

export class CatchPanicLayer extends Layer {
  /** @param answer asked first, with status 500 already set; for error pages of the application's own. */
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
