/**
 * Observes a request until its response is decided or the client leaves. `record` is called once, at the first of the two. The stages that
 * log, count and trace requests extend it.
 */
import type { Context } from "../http/request/context.js";
import type { HeadCompleter } from "../http/response/response-head.js";
import type { Run } from "../http/middleware.js";

/** The status in logs and metrics if the client left before the response was sent. This status is never sent. */
const CLIENT_GONE = 499;

interface Failure {
  readonly error: unknown;
}

export abstract class Observation implements HeadCompleter {
  private hasEnded = false;

  constructor(protected readonly ctx: Context) {
    ctx.startedAt ??= ctx.clock.monotonic();
    ctx.onClientGone(this);
  }

  /** The context calls it when the client leaves. */
  clientGone(): void {
    this.end(this.ctx.raw.statusCode);
  }

  /** The response calls it when its head is sent. Only for a response that application code writes itself after the inner stages. */
  complete(): void {
    this.end(this.ctx.raw.statusCode);
  }

  /** Runs the inner stages. An exception counts with its status, or as 500 if it has none, and is thrown again. */
  watch(inner: Run): void | Promise<void> {
    let result: void | Promise<void>;
    try {
      result = inner(this.ctx);
    } catch (thrown) {
      this.fail(thrown);
      throw thrown;
    }
    if (result === undefined) return this.finish();
    return result.then(
      () => this.finish(),
      (thrown: unknown) => {
        this.fail(thrown);
        throw thrown;
      },
    );
  }

  /** Milliseconds since the outermost stage that measures received the request. */
  protected elapsed(): number {
    const { clock, startedAt } = this.ctx;
    return clock.monotonic() - (startedAt ?? 0);
  }

  protected abstract record(status: number, failure: Failure | undefined): void;

  private finish(): void {
    const { ctx } = this;
    if (ctx.isWrittenByHand && !ctx.headIsSent) ctx.completeHeadWith(this);
    else this.end(ctx.raw.statusCode);
  }

  /**
   * An exception becomes a response outside this stage. Once the head is sent, it cannot become a response any more.
   */
  private fail(thrown: unknown): void {
    const { ctx } = this;
    const status = ctx.headIsSent ? 500 : ctx.getThrownStatus(thrown);
    this.end(status, status >= 500 ? { error: thrown } : undefined);
  }

  private end(status: number, failure?: Failure): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    const { isClientGone, headIsSent } = this.ctx;
    this.record(isClientGone && !headIsSent ? CLIENT_GONE : status, failure);
  }
}
