/**
 * Stage layer for responses with 4xx and 5xx: gives those without a body an RFC 9457 problem, replaces the body of 5xx if that is enabled,
 * and lets the application send every error in a custom format. Headers of the response stay.
 *
 * @example
 * builder.catchPanic().errorMapping(new ErrorMapping().using((error, ctx) =>
 *   error instanceof FrameworkError ? Reply.json({ message: error.message }, ctx.status) : undefined));
 */
import { toFrameworkError } from "../errors/problem-error.js";
import type { FrameworkError } from "../errors/framework-error.js";
import { Problem } from "../errors/problem.js";
import { describeToken } from "../di/token.js";
import type { Context } from "../http/request/context.js";
import { toPromise, isPromise, StageLayer, type Run } from "../http/middleware.js";
import { notifyErrorListeners } from "../http/koa/error-events.js";
import { findRefusal, refuse } from "../http/failures/refuse.js";
import { Reply } from "../http/response/reply.js";
import { applyReply, settleBody } from "../http/response/returned-value.js";
import { markHandled } from "../runtime/mark-handled.js";
import { tracing } from "../tracing/tracing.js";

const log = tracing.target("framework::http::error_mapping");

/**
 * Responds to an error; `undefined` leaves the response to the other rules. `ctx.status` is the status of the error. The status stays,
 * unless the reply has another of 400 or more. A mapper that reads a request header calls `ctx.vary` for caches.
 *
 * @param error a `FrameworkError`, also for a refusal without a thrown error; Koa's `HttpError`; or any thrown value, with status 500
 */
export type ErrorMapper = (error: unknown, ctx: Context) => Reply | undefined;

export class ErrorMapping extends StageLayer {
  private redacts = false;
  private mapper: ErrorMapper | undefined;

  /**
   * Replaces the text or JSON body of every 5xx by a generic problem. Refusals of the framework's stages, such as maintenance, keep their
   * bodies, which contain no secret. Off unless set, in both profiles.
   */
  redactErrors(on: boolean): this {
    this.redacts = on;
    return this;
  }

  /**
   * Sets the mapper. It is called once for each request that fails in the inner stages or in the application, and with `.catchPanic()` for
   * unhandled errors. It is not called for a response with a body that the application returned.
   *
   * @throws TypeError for a mapper that is not a function
   */
  using(mapper: ErrorMapper): this {
    if (typeof mapper !== "function")
      throw new TypeError(`${describeToken(mapper)} is not an error mapper: give a function`);
    this.mapper = mapper;
    return this;
  }

  /** @internal */
  get hasMapper(): boolean {
    return this.mapper !== undefined;
  }

  override wrap(inner: Run): Run {
    return (ctx) => {
      const result = inner(ctx);
      if (result !== undefined) return result.then(() => this.map(ctx));
      this.map(ctx);
      return undefined;
    };
  }

  /** Calls the application's mapper. Returns whether it has responded. @internal */
  respondWithMapper(ctx: Context, error: unknown): boolean {
    const { mapper } = this;
    if (mapper === undefined) return false;
    const status = ctx.raw.statusCode;
    try {
      const reply = checkReply(mapper(error, ctx));
      if (reply === undefined) return false;
      // `Reply.html(page)` has status 200, which is wrong for an error.
      applyReply(ctx, reply.statusCode < 400 ? reply.status(status) : reply);
      return true;
    } catch (failure) {
      log.error("error mapper failed", { status, error: failure });
      notifyErrorListeners(ctx, failure);
      return false;
    }
  }

  private map(ctx: Context): void {
    const { raw } = ctx;
    if (raw.statusCode < 400 || ctx.headIsSent || ctx.isWrittenByHand) return;
    settleBody(ctx);
    if (this.mapper !== undefined && this.respondToFailure(ctx)) return;
    const type = getMediaType(ctx);
    if (ctx.payload === undefined) {
      if (type === "") refuse(ctx, new Problem(raw.statusCode));
    } else if (this.redacts && raw.statusCode >= 500 && isTextOrJson(type) && !isStageRefusal(ctx)) {
      refuse(ctx, new Problem(raw.statusCode));
    }
  }

  private respondToFailure(ctx: Context): boolean {
    const refusal = findRefusal(ctx);
    if (refusal?.error !== undefined) return this.respondWithMapper(ctx, refusal.error);
    if (refusal === undefined && hasBodyOrType(ctx)) return false;
    return this.respondWithMapper(ctx, createRefusalError(ctx, refusal?.problem ?? new Problem(ctx.raw.statusCode)));
  }
}

/** Callers without types may return any value, and an async function may be passed as a mapper. */
function checkReply(returned: unknown): Reply | undefined {
  if (returned === undefined || returned instanceof Reply) return returned;
  // An unhandled rejection would end the process.
  if (isPromise(returned)) void markHandled(toPromise(returned));
  const kind = returned === null ? "null" : `a value of type ${typeof returned}`;
  const name = isPromise(returned) ? "a promise" : kind;
  throw new TypeError(`the error mapper returned ${name}: return a Reply or undefined`);
}

function createRefusalError({ raw }: Context, problem: Problem): FrameworkError {
  return toFrameworkError(problem, String(raw.getHeader("Allow") ?? ""));
}

function isStageRefusal(ctx: Context): boolean {
  const refusal = findRefusal(ctx);
  return refusal !== undefined && refusal.error === undefined;
}

function hasBodyOrType(ctx: Context): boolean {
  return ctx.payload !== undefined || getMediaType(ctx) !== "";
}

function getMediaType(ctx: Context): string {
  const type = ctx.raw.getHeader("Content-Type") ?? ctx.inferredType ?? "";
  return String(type).split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** Whether a body of this type can contain the text of an error. */
function isTextOrJson(type: string): boolean {
  return type === "text/plain" || type === "application/json" || type.endsWith("+json");
}
