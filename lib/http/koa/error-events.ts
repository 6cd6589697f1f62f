/**
 * The `error` event of the Koa application: it passes unhandled errors to error trackers (Sentry, dd-trace, elastic-apm), and accepts the
 * errors that middleware emits. An event without a listener is logged; the `emit` of Node would throw it.
 */
import { describeThrown } from "../../errors/thrown-value.js";
import { currentSubscriber } from "../../tracing/flow.js";
import { tracing } from "../../tracing/tracing.js";
import type { Exchange } from "../request/exchange.js";
import packages from "../packages.cjs";
import { toFrameworkError } from "../failures/thrown-error.js";

const log = tracing.target("framework::http::error");

/** How an error of a request was reported: in the log, or to the listeners. */
type ErrorState = "logged" | "emitted";

export class ErrorEvents extends packages.Koa {
  // By request, because a program may throw one error object again and again.
  private readonly knownErrors = new WeakMap<object, Map<unknown, ErrorState>>();

  override emit(event: string | symbol, ...args: unknown[]): boolean {
    if (event !== "error") return super.emit(event, ...args);
    const [error, ctx] = args;
    const hasListener = this.listenerCount(event) > 0;
    if (this.isContext(ctx)) this.recordError(ctx, error, hasListener ? "emitted" : "logged");
    if (hasListener) return super.emit(event, ...args);
    this.logEvent(error, this.isContext(ctx) ? ctx : undefined);
    return false;
  }

  /** Whether middleware has emitted this error of the request, and it was logged. @internal */
  hasLogged(ctx: Exchange, thrown: unknown): boolean {
    return this.knownErrors.get(ctx)?.get(thrown) === "logged";
  }

  /** Emits an error to the listeners, unless they have it already. A listener that throws does not change the response. @internal */
  notifyListeners(ctx: object, thrown: unknown): void {
    if (this.listenerCount("error") === 0 || this.knownErrors.get(ctx)?.has(thrown) === true) return;
    this.recordError(ctx, thrown, "emitted");
    try {
      this.emit("error", toError(thrown), ctx);
    } catch (error) {
      log.error("error listener failed", describeThrown(error));
    }
  }

  private recordError(ctx: object, error: unknown, state: ErrorState): void {
    const errors = this.knownErrors.get(ctx) ?? new Map<unknown, ErrorState>();
    this.knownErrors.set(ctx, errors.set(error, state));
  }

  private logEvent(error: unknown, ctx: Exchange | undefined): void {
    const refusal = ctx === undefined ? undefined : toFrameworkError(ctx, error);
    // As in Koa, the faults of a client do not count as errors of the application.
    if (refusal !== undefined && refusal.status < 500) {
      log.debug("request refused", { code: refusal.code, status: refusal.status });
      return;
    }
    log.error("error event", describeThrown(error));
    if (currentSubscriber() === undefined) ctx?.reportUnhandled?.("error event", error);
  }

  /** Middleware may emit an error with any second argument. */
  private isContext(ctx: unknown): ctx is Exchange {
    return typeof ctx === "object" && ctx !== null && Object.prototype.isPrototypeOf.call(this.context, ctx);
  }
}

/** Emits an error to the listeners of `builder.koa.on("error")`, once for each request. @internal */
export function notifyErrorListeners(ctx: object, thrown: unknown): void {
  if ("app" in ctx && ctx.app instanceof ErrorEvents) ctx.app.notifyListeners(ctx, thrown);
}

/** Listeners read the message and the stack of an `Error`, as in Koa. */
function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error("a value that is not an Error was thrown", { cause: thrown });
}
