/**
 * Stage layer: gives error answers that have no body an RFC 9457 problem, redacts 5xx texts where told to, and lets the application
 * put its own page in place of any of them. Looks at 4xx and 5xx only; headers of the answer survive.
 *
 * @example
 * builder.errorMapping(new ErrorMapping().redactErrors(true).using((status) =>
 *   status === 404 ? Reply.html("<h1>Nothing here</h1>") : undefined));
 */
import { applyReply, settleBody } from "../http/returned-value.js";
import { refuse } from "../http/refuse.js";
import type { Context } from "../http/context.js";
import { Layer, type Run } from "../http/middleware.js";
import { Problem } from "../errors/problem.js";
import type { Reply } from "../http/reply.js";
import { tracing } from "../tracing/tracing.js";

const log = tracing.target("framework::http::error_mapping");

/**
 * Decides by status and the request's headers, of which it tells caches (`ctx.vary("Accept")`); `undefined` leaves the answer to the
 * other rules. The status stays what it is, unless the reply has another one of 400 or more.
 */
export type ErrorMapper = (status: number, ctx: Context) => Reply | undefined;

export class ErrorMapping extends Layer {
  private redacts = false;
  private mapper: ErrorMapper | undefined;

  /** Replaces the text or JSON body of every 5xx by a generic problem. Off unless set, in both profiles. */
  redactErrors(on: boolean): this {
    this.redacts = on;
    return this;
  }

  using(mapper: ErrorMapper): this {
    this.mapper = mapper;
    return this;
  }

  override wrap(inner: Run): Run {
    return (ctx) => {
      const result = inner(ctx);
      if (result !== undefined) return result.then(() => this.map(ctx));
      this.map(ctx);
      return undefined;
    };
  }

  /** Asks the application's mapper; whether it answered. */
  answerByMapper(ctx: Context): boolean {
    const status = ctx.raw.statusCode;
    try {
      const reply = this.mapper?.(status, ctx);
      if (reply === undefined) return false;
      // A page for an error is no success: `Reply.html(page)` alone would say 200.
      applyReply(ctx, reply.statusCode < 400 ? reply.status(status) : reply);
      return true;
    } catch (error) {
      log.error("error mapper failed", { status, error });
      return false;
    }
  }

  private map(ctx: Context): void {
    const { raw } = ctx;
    if (raw.statusCode < 400 || ctx.headIsSent || ctx.isWrittenByHand) return;
    settleBody(ctx);
    if (this.mapper !== undefined && this.answerByMapper(ctx)) return;
    const type = typeOf(ctx);
    if (ctx.payload === undefined) {
      if (type === "") refuse(ctx, new Problem(raw.statusCode));
    } else if (this.redacts && raw.statusCode >= 500 && isTextOrJson(type)) {
      refuse(ctx, new Problem(raw.statusCode));
    }
  }
}

function typeOf(ctx: Context): string {
  const type = ctx.raw.getHeader("Content-Type") ?? ctx.naturalType ?? "";
  return String(type).split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** The framework's own problems are safe already; what is meant are bodies that an application wrote. */
function isTextOrJson(type: string): boolean {
  return type === "text/plain" || type === "application/json" || type.endsWith("+json");
}
