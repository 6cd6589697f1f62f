/**
 * Stage layer for answers with 4xx and 5xx: gives those without a body an RFC 9457 problem, replaces the body of 5xx if it is told to,
 * and lets the application answer with a page of its own. Headers of the answer stay.
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
 * Makes the answer from the status and the request; `undefined` leaves it to the other rules. If it reads a request header, it calls
 * `ctx.vary` for caches. The status stays, unless the reply has another of 400 or more.
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

  /** Calls the application's mapper. Returns whether it answered. */
  answerByMapper(ctx: Context): boolean {
    const status = ctx.raw.statusCode;
    try {
      const reply = this.mapper?.(status, ctx);
      if (reply === undefined) return false;
      // `Reply.html(page)` has status 200, which is wrong for an error.
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

/** The types of bodies that an application wrote. The framework's own problems hold nothing to redact. */
function isTextOrJson(type: string): boolean {
  return type === "text/plain" || type === "application/json" || type.endsWith("+json");
}
