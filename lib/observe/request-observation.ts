/**
 * Watching a request until its answer is decided, or until the client leaves, whichever comes first: told once, never twice.
 * Shared by the layers that log and count.
 */
import type { Context } from "../http/context.js";
import type { HeadCompleter } from "../http/head.js";
import type { Run } from "../http/middleware.js";

/** What logs and metrics say where the client left before the answer was there; never sent. */
const CLIENT_GONE = 499;

export abstract class Observation implements HeadCompleter {
  private isOver = false;

  constructor(protected readonly ctx: Context) {
    ctx.startedAt ??= ctx.clock.monotonic();
    ctx.whenGone(this);
  }

  /** Called by the context when the client leaves. */
  clientGone(): void {
    this.over(this.ctx.raw.statusCode);
  }

  /** Called when the head is sent of an answer that somebody writes by hand, after the inner stages are done. */
  complete(): void {
    this.over(this.ctx.raw.statusCode);
  }

  /** Runs what is further in; an exception that passes counts as 500 and goes on. */
  watch(inner: Run): void | Promise<void> {
    let result: void | Promise<void>;
    try {
      result = inner(this.ctx);
    } catch (thrown) {
      this.over(500, { error: thrown });
      throw thrown;
    }
    if (result === undefined) return this.done();
    return result.then(
      () => this.done(),
      (thrown: unknown) => {
        this.over(500, { error: thrown });
        throw thrown;
      },
    );
  }

  /** Milliseconds since the request came to the outermost stage that measures. */
  protected elapsed(): number {
    const { clock, startedAt } = this.ctx;
    return clock.monotonic() - (startedAt ?? 0);
  }

  protected abstract record(status: number, failure: { readonly error: unknown } | undefined): void;

  private done(): void {
    const { ctx } = this;
    if (ctx.isWrittenByHand && !ctx.headIsSent) ctx.completeHeadWith(this);
    else this.over(ctx.raw.statusCode);
  }

  private over(status: number, failure?: { readonly error: unknown }): void {
    if (this.isOver) return;
    this.isOver = true;
    const { isClientGone, headIsSent } = this.ctx;
    this.record(isClientGone && !headIsSent ? CLIENT_GONE : status, failure);
  }
}
