/**
 * The code of endpoints with `idempotent`. Provide one, with a store and with the function that says who calls. A key belongs to a caller, a
 * method and a path: another caller with the same key is another request.
 *
 * @example
 * provide(Idempotency).useFactory((resolve) => new Idempotency(new DatabaseIdempotencyStore(resolve(ShopDatabase)), {
 *   principal: (ctx: Context & { user?: User }) => ctx.user?.id,
 * }));
 */
import { IdempotencyProvider } from "../contracts/idempotency-provider.js";
import type { Handler } from "../endpoints/handler.js";
import type { Idempotent } from "../endpoints/idempotent.js";
import { checkOptionNames } from "../errors/option-names.js";
import { createSetupError } from "../errors/setup-error.js";
import { isKnownFailure, toFrameworkError } from "../http/failures/thrown-error.js";
import type { Context } from "../http/request/context.js";
import type { HeadSnapshot } from "../http/response/response-state.js";
import { respondWithReturned } from "../http/response/returned-value.js";
import { currentCommitScope } from "../lifecycle/commit-scope.js";
import { findProcessState, type PerProcess, type ProcessState } from "../lifecycle/process-state.js";
import type { Subsystem } from "../lifecycle/subsystem.js";
import { OVERDUE, within } from "../runtime/clock.js";
import { markHandled } from "../runtime/mark-handled.js";
import { tracing } from "../tracing/tracing.js";
import { createReuseError, createRunningError, createUnknownError, createUnstoredError } from "./idempotency-errors.js";
import {
  type ClaimState,
  type IdempotencyClaim,
  IdempotencyStore,
  MAX_WAIT_MS,
  RAN,
  RUNNING,
  type WorkResult,
} from "./idempotency-store.js";
import { recordError, recordReply, replay } from "./recorded-response.js";
import { readClaim, type Principal } from "./request-claim.js";

const log = tracing.target("framework::idempotency");

export interface IdempotencyOptions {
  /**
   * The caller of a request, after the guards have run: the id of a user or of an account. A request with a key is refused with 403 where it
   * is `undefined`.
   */
  principal(ctx: Context): Principal | Promise<Principal>;
}

/** Statuses that ask the client to send the request again, because nothing was done. */
const REPEATED: ReadonlySet<number> = new Set([425, 429]);

const FAILED: WorkResult = { outcome: "failed", response: undefined };
const RELEASED: WorkResult = { outcome: "released", response: undefined };

export class Idempotency extends IdempotencyProvider implements PerProcess {
  /**
   * The requests that run in this process, with the state of their keys after them. Another request with such a key waits here, without a
   * connection of the store, and needs none for the response.
   */
  private readonly running = new Map<string, Promise<ClaimState>>();

  /** @throws FrameworkError `E_IDEMPOTENCY_OPTION` without a store or without `principal`; `E_OPTION` */
  constructor(
    private readonly store: IdempotencyStore,
    private readonly options: IdempotencyOptions,
  ) {
    super();
    checkOptionNames<IdempotencyOptions>(options, { principal: true }, "new Idempotency");
    // JavaScript callers may pass any value.
    if (store instanceof IdempotencyStore && typeof Object(options).principal === "function") return;
    const message = "new Idempotency(store, { principal }) needs a store and the function that returns the caller";
    throw createSetupError("E_IDEMPOTENCY_OPTION", message);
  }

  override get subsystems(): readonly Subsystem[] {
    return this.store.subsystems;
  }

  /** That of the store. */
  get perProcess(): ProcessState | undefined {
    return findProcessState(this.store);
  }

  /** @internal */
  override wrap(handler: Handler, options: Idempotent): Handler {
    return async (ctx) => {
      const claim = await readClaim(ctx, options, this.options);
      return claim === undefined ? handler(ctx) : this.respond(ctx, claim, handler);
    };
  }

  private async respond(ctx: Context, claim: IdempotencyClaim, handler: Handler): Promise<void> {
    const attempt = new Attempt(ctx, handler);
    const state = await this.runAlone(claim, attempt);
    if (state.kind === "ran") return attempt.end();
    if (state.kind === "running") throw createRunningError();
    if (state.fingerprint !== claim.fingerprint) throw createReuseError();
    if (state.kind === "unknown") throw createUnknownError();
    if (state.response === undefined) throw createUnstoredError();
    log.debug("response replayed", { status: state.response.status });
    replay(ctx, state.response);
  }

  /** Waits for an earlier request with the key. The check and the start are one step, so that two waiting requests do not start both. */
  private async runAlone(claim: IdempotencyClaim, attempt: Attempt): Promise<ClaimState> {
    const { id, clock } = claim;
    const deadline = clock.monotonic() + MAX_WAIT_MS;
    for (;;) {
      const earlier = this.running.get(id);
      if (earlier === undefined) return this.run(claim, attempt);
      const leftMs = Math.max(deadline - clock.monotonic(), 0);
      const ended = earlier.catch(() => RAN);
      const state = await within(clock, leftMs, ended);
      if (state === OVERDUE) return RUNNING;
      if (state.kind !== "ran") return state;
      attempt.throwIfAborted();
    }
  }

  private async run(claim: IdempotencyClaim, attempt: Attempt): Promise<ClaimState> {
    const { id, fingerprint } = claim;
    const running = this.store.run(claim, () => attempt.run());
    // A transaction around the request may still roll back, so other requests ask the store.
    const isSettled = currentCommitScope() === undefined;
    const toState = (state: ClaimState): ClaimState => (state.kind === "ran" ? attempt.toState(fingerprint) : state);
    this.running.set(id, markHandled(running.then((state) => (isSettled ? toState(state) : RAN))));
    try {
      return await running;
    } finally {
      this.running.delete(id);
    }
  }
}

/** One run of a handler. */
class Attempt {
  private result: WorkResult | undefined = undefined;
  private thrown: { readonly error: unknown } | undefined = undefined;

  constructor(
    private readonly ctx: Context,
    private readonly handler: Handler,
  ) {}

  async run(): Promise<WorkResult> {
    return (this.result = await this.callHandler());
  }

  /** The state of the key for other requests. A key without a response may be free: `"ran"`. */
  toState(fingerprint: string): ClaimState {
    const { outcome, response } = this.result ?? FAILED;
    const isRecorded = outcome === "done" || outcome === "refused";
    return isRecorded ? { kind: "recorded", fingerprint, response } : RAN;
  }

  /** @throws the reason of the signal, where the client has left while the request waited */
  throwIfAborted(): void {
    this.ctx.throwIfAborted();
  }

  /** @throws the error of the handler, when the store has recorded it */
  end(): void {
    if (this.thrown !== undefined) throw this.thrown.error;
  }

  private async callHandler(): Promise<WorkResult> {
    const { ctx } = this;
    const before = ctx.takeHeadSnapshot();
    try {
      await respondWithReturned(ctx, await this.handler(ctx));
    } catch (error) {
      return this.refuse(error, before);
    }
    const { statusCode } = ctx.raw;
    // Where a stage has responded in the place of the handler, its value is lost.
    if (statusCode >= 500 || !ctx.mayChange) return FAILED;
    return REPEATED.has(statusCode) ? RELEASED : { outcome: "done", response: recordReply(ctx, before) };
  }

  /** @throws the error, unless it is a response that is stored */
  private refuse(thrown: unknown, before: HeadSnapshot): WorkResult {
    const error = toFrameworkError(this.ctx, thrown);
    if (error === undefined || error.status >= 500 || isKnownFailure(this.ctx, thrown)) throw thrown;
    this.thrown = { error: thrown };
    return REPEATED.has(error.status)
      ? RELEASED
      : { outcome: "refused", response: recordError(this.ctx, before, error) };
  }
}
