/**
 * Stage layer: converts an unhandled error to a 500. For the outer stages it is an ordinary response: they add their headers, log it and
 * count it. Errors with a status (`FrameworkError`, Koa's `HttpError`) are converted by an inner stage. Without this stage the last-resort
 * handler sends the 500, and the access log and the metrics see only the exception.
 */
import type { Context } from "../http/request/context.js";
import { StageLayer, type Run } from "../http/middleware.js";
import { respondToUnhandledError, type UnhandledErrorResponder } from "../http/failures/unhandled-error.js";
import { tracing } from "../tracing/tracing.js";

const log = tracing.target("framework::http::catch_panic");

export class CatchPanicLayer extends StageLayer {
  /** @param respond the application's error page. It is called before the problem body is created, with status 500 already set. */
  constructor(private readonly respond?: UnhandledErrorResponder) {
    super();
  }

  override wrap(inner: Run): Run {
    return (ctx) => {
      const head = ctx.takeHeadSnapshot();
      try {
        const result = inner(ctx);
        if (result !== undefined)
          return result.then(undefined, (thrown: unknown) => this.handleThrown(ctx, thrown, head));
      } catch (thrown) {
        this.handleThrown(ctx, thrown, head);
      }
      return undefined;
    };
  }

  private handleThrown(ctx: Context, thrown: unknown, head: ReturnType<Context["takeHeadSnapshot"]>): void {
    respondToUnhandledError(ctx, thrown, head, log, this.respond);
  }
}
