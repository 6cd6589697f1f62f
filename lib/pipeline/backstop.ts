/**
 * The boundary outside every stage, in the place of Koa's own error handler, which would strip each header already set: whatever
 * still comes out of the chain as an exception is answered with a 500, and every answer is sent here, once.
 */
import { settleBody } from "../http/returned-value.js";
import type { Context } from "../http/context.js";
import type { Run } from "../http/middleware.js";
import { answerPanic } from "../http/refuse.js";
import { send } from "../http/send.js";
import { discardBody } from "../http/body-stream.js";
import { tracing } from "../tracing/tracing.js";

const log = tracing.target("framework::http::backstop");

/** The whole chain as one call that never throws and never rejects. */
export function backstop(chain: Run): (ctx: Context) => void {
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
    answerPanic(ctx, thrown, undefined, log);
    if (ctx.raw.headersSent) ctx.finish();
    else send(ctx);
  } catch (error) {
    // An error while an error is answered: a header that Node refuses, for example. Nothing is left but to end it.
    log.error("response failed", { error });
    ctx.raw.destroy();
    discardBody(ctx.payload);
    ctx.finish();
  }
}
