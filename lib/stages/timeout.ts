/**
 * Stage layer, and middleware for a route or a group: responds with 408 for a handler that takes too long, or with 503 for `status: 503`.
 * The handler's `ctx.signal` aborts with `E_TIMEOUT`, and the head is restored to its state at the arrival of the request. The handler
 * cannot change the response afterwards: a late result is discarded, a late error is one WARN event.
 *
 * A browser takes 408 to mean that the request did not arrive (RFC 9110 section 15.5.9). On a reused connection Chromium sends the request
 * again, a POST too, so the handler runs several times. With `status: 503` the response is 503 with `Retry-After: 1`, and 408 only while a
 * reader waits for a body that is slow to arrive.
 *
 * The time runs until the handler has returned, and includes reading the request body. A body that streams afterwards is not limited, even
 * if its first chunk comes late. On a route this time replaces that of the stage, whether it is shorter or longer.
 *
 * Not for work that keeps the processor busy: no timer runs during it. The work of a handler goes on unless it listens to `ctx.signal`.
 *
 * @example
 * builder.timeout(30_000, { status: 503 });
 * Route.post("/reports", report).middleware(new TimeoutLayer(120_000));
 */
import { valueText } from "../errors/value-text.js";
import { type Clock, type Timer, MAX_TIMER_MS } from "../runtime/clock.js";
import { DeadlineError, type FrameworkError, SlowHandlerError } from "../errors/framework-error.js";
import type { Context } from "../http/request/context.js";
import type { HeadSnapshot } from "../http/response/response-state.js";
import { StageLayer, type Run } from "../http/middleware.js";
import { describeThrown } from "../errors/thrown-value.js";
import { getRouteField } from "../http/failures/failed-request.js";
import { refuse, refuseWithError } from "../http/failures/refuse.js";
import { notifyErrorListeners } from "../http/koa/error-events.js";
import { toFrameworkError, isKnownFailure } from "../http/failures/thrown-error.js";
import { waitsForBody } from "../http/connection/unread-body.js";
import { tracing } from "../tracing/tracing.js";
import { createSetupError } from "../errors/setup-error.js";

/** One deadline: an element of a linked list. */
export class Deadline {
  due = 0;
  previous: Deadline | undefined = undefined;
  next: Deadline | undefined = undefined;

  constructor(readonly onMissed: () => void) {}
}

/**
 * Deadlines with the same duration. They fall due in the order in which they were set, so one list and one timer are enough. Nearly all
 * deadlines are met, and a deadline that is met costs no timer. Without deadlines no timer is set.
 */
export class Deadlines {
  private first: Deadline | undefined = undefined;
  private last: Deadline | undefined = undefined;
  private timer: Timer | undefined = undefined;

  constructor(
    private readonly clock: Clock,
    private readonly ms: number,
  ) {}

  /** Sets `deadline` to the full time from now; it must not be in the list. */
  add(deadline: Deadline): void {
    deadline.due = this.clock.monotonic() + this.ms;
    const { last } = this;
    deadline.previous = last;
    this.last = deadline;
    if (last !== undefined) last.next = deadline;
    else this.first = deadline;
    // A timer that is already set will find this deadline, and `expireDue` sets the next timer itself.
    if (last === undefined && this.timer === undefined) this.setTimer(this.ms);
  }

  remove(deadline: Deadline): void {
    const { previous, next } = deadline;
    if (previous === undefined) this.first = next;
    else previous.next = next;
    if (next === undefined) this.last = previous;
    else next.previous = previous;
    deadline.previous = undefined;
    deadline.next = undefined;
  }

  private setTimer(delayMs: number): void {
    this.timer = this.clock.setTimeout(() => this.expireDue(), delayMs, { background: true });
  }

  private expireDue(): void {
    this.timer = undefined;
    const now = this.clock.monotonic();
    for (let { first } = this; first !== undefined && first.due <= now; { first } = this) {
      this.remove(first);
      first.onMissed();
    }
    if (this.first !== undefined && this.timer === undefined) this.setTimer(this.first.due - now);
  }
}

const log = tracing.target("framework::http::timeout");

export interface TimeoutOptions {
  /**
   * The status for a handler that takes too long: 408 or 503. Default: that of the timeout around this one, else 408. With 503, a body that
   * is slow to arrive is still a 408.
   */
  readonly status?: 408 | 503;
}

export class TimeoutLayer extends StageLayer {
  /** @internal */
  readonly status: 408 | 503 | undefined;

  /** @throws FrameworkError `E_TIMEOUT_SETTING` unless `ms` is a whole number from 1 to 2 147 483 647, and the status 408 or 503 */
  constructor(
    private readonly ms: number,
    options: TimeoutOptions = {},
  ) {
    super();
    this.status = options.status;
    if (!Number.isInteger(ms) || ms < 1 || ms > MAX_TIMER_MS)
      throw createSettingError(`a timeout of ${valueText(ms)} ms: use a whole number from 1 to ${MAX_TIMER_MS}`);
    // A caller without a compiler may pass any value.
    if (options.status !== undefined && ![408, 503].includes(options.status))
      throw createSettingError(`a timeout with the status ${valueText(options.status)}: use 408 or 503`);
  }

  override wrap(inner: Run): Run {
    const { ms, status } = this;
    let runner: TimeoutRunner | undefined;
    return (ctx) => {
      runner ??= new TimeoutRunner(new Deadlines(ctx.clock, ms), ms, status ?? getOuterStatus(ctx.activeTimeout));
      return runner.run(ctx, inner);
    };
  }
}

function createSettingError(message: string): FrameworkError {
  return createSetupError("E_TIMEOUT_SETTING", message);
}

/** A place in the chain has the same outer timeout in every request. */
function getOuterStatus(outer: unknown): 408 | 503 {
  return outer instanceof TimeoutRunner ? outer.status : 408;
}

class TimeoutRunner {
  constructor(
    private readonly deadlines: Deadlines,
    private readonly ms: number,
    readonly status: 408 | 503,
  ) {}

  run(ctx: Context, inner: Run): void | Promise<void> {
    const outer = ctx.activeTimeout;
    const head = ctx.takeHeadSnapshot();
    ctx.activeTimeout = this;
    let result: void | Promise<void> = undefined;
    try {
      result = inner(ctx);
    } finally {
      if (result === undefined) ctx.activeTimeout = outer;
    }
    // A synchronous result needs no deadline.
    return result === undefined ? undefined : this.wait(ctx, result, head, outer);
  }

  private wait(ctx: Context, result: Promise<void>, head: HeadSnapshot, outer: unknown): Promise<void> {
    const race = new Promise<boolean>((resolve, reject) => {
      let isMissed = false;
      const deadline = new Deadline(() => {
        // An inner timeout limits this request now, so this one is checked again later.
        if (ctx.activeTimeout !== this) return this.deadlines.add(deadline);
        isMissed = true;
        ctx.activeTimeout = outer;
        return resolve(true);
      });
      const isMet = (): boolean => {
        if (isMissed) return false;
        this.deadlines.remove(deadline);
        ctx.activeTimeout = outer;
        return true;
      };
      this.deadlines.add(deadline);
      result.then(
        () => void (isMet() && resolve(false)),
        (thrown: unknown) => {
          if (isMet()) reject(thrown);
          else if (!isKnownFailure(ctx, thrown)) reportLateFailure(ctx, thrown);
        },
      );
    });
    // The response is created here and not in the timer, because here the request's span and storage are current.
    return race.then((isMissed) => (isMissed ? this.respond(ctx, head) : undefined));
  }

  private respond(ctx: Context, head: HeadSnapshot): void {
    const isClientSlow = waitsForBody(ctx.incoming);
    const reason = isClientSlow || this.status === 408 ? new DeadlineError() : new SlowHandlerError();
    ctx.decide(reason);
    const { raw } = ctx;
    if (!ctx.headIsSent) {
      ctx.restoreHead(head);
      // The 408 has no body here: the error mapping gives it one.
      if (reason.status === 408) refuse(ctx, 408);
      else refuseWithError(ctx, reason, true);
      this.report(ctx, reason, isClientSlow);
    } else if (!raw.writableEnded) {
      log.error("response failed", { error: reason });
      notifyErrorListeners(ctx, reason);
      raw.destroy();
    }
    ctx.abort(reason);
  }

  /** A slow handler concerns the application; a slow client does not. */
  private report(ctx: Context, reason: FrameworkError, isClientSlow: boolean): void {
    const fields = { status: reason.status, limit_ms: this.ms };
    if (isClientSlow) return log.debug("request body timed out", fields);
    log.info("request timed out", { ...getRouteField(ctx), ...fields });
    notifyErrorListeners(ctx, reason);
  }
}

function reportLateFailure(ctx: Context, thrown: unknown): void {
  log.warn("late failure", describeThrown(thrown));
  if (toFrameworkError(ctx, thrown) === undefined) notifyErrorListeners(ctx, thrown);
}
