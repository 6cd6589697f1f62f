/**
 * Composes a list of layers and middlewares into one call, once, when the application is built. It also takes care of a middleware
 * that ends before its `next()` does.
 */
import { answerWith } from "./returned-value.js";
import type { Context } from "./context.js";
import {
  asPromise,
  isPromise,
  Layer,
  middlewareName,
  type KoaMiddleware,
  type Middleware,
  type Next,
  type Run,
} from "./middleware.js";
import { reportLate } from "./unhandled-error.js";
import { tracing } from "../tracing/tracing.js";

const log = tracing.target("framework::http::middleware");

/** Puts `outer` around `inner`; the first of the list is the outermost. @internal */
export function compose(outer: readonly (Middleware | KoaMiddleware)[], inner: Run): Run {
  return outer.reduceRight<Run>((rest, each) => around(each, rest), inner);
}

function around(middleware: Middleware | KoaMiddleware, inner: Run): Run {
  if (middleware instanceof Layer) return middleware.wrap(inner);
  const handle = typeof middleware === "function" ? middleware : middleware.handle.bind(middleware);
  return (ctx) => {
    const step = new Step(ctx, inner, middleware);
    let result: unknown;
    try {
      result = handle(ctx, step.next);
    } catch (thrown) {
      return step.failed(thrown);
    }
    // Most middlewares return the promise of `next()`, which needs no promise around it.
    if (result !== undefined && result === step.rest) return step.rest;
    if (!isPromise(result)) return step.ended(result);
    return asPromise(result).then(
      (value) => step.ended(value),
      (thrown: unknown) => step.failed(thrown),
    );
  };
}

/**
 * The call of one middleware for one request. A middleware may end before its `next()` does: on purpose
 * (`Promise.race([next(), timer])`), or because an `await` is missing. If the request has no answer then, the chain waits for `next()`
 * instead of the middleware. A failure of the rest is reported in each case.
 */
class Step {
  rest: NextPromise | undefined = undefined;
  private wasCalled = false;
  private restIsOver = false;
  private failure: { readonly error: unknown } | undefined = undefined;
  /** The middleware has ended, and the chain does not wait for its `next()`. */
  private isAbandoned = false;

  constructor(
    private readonly ctx: Context,
    private readonly inner: Run,
    private readonly middleware: Middleware | KoaMiddleware,
  ) {}

  /** Runs the rest of the chain, once. Returns a real promise, also if the rest is synchronous. */
  readonly next: Next = () => {
    if (this.wasCalled) return rejectSecondCall();
    this.wasCalled = true;
    this.rest = new NextPromise((resolve, reject) => this.run(resolve, reject));
    if (this.failure !== undefined) this.rest.handleRejection();
    return this.rest;
  };

  /** The middleware returned `value`. Returns a promise if the chain must wait for the rest. */
  ended(value: unknown): void | Promise<void> {
    const { ctx, rest } = this;
    this.isAbandoned = true;
    if (value !== undefined) answerWith(ctx, value);
    if (rest === undefined || this.isHandled(rest)) return undefined;
    if (ctx.isAnswered || ctx.isWrittenByHand) return this.reportFailure();
    this.isAbandoned = false;
    log.warn("next() was not awaited", { middleware: middlewareName(this.middleware) });
    return rest;
  }

  failed(thrown: unknown): never {
    this.isAbandoned = true;
    if (this.rest !== undefined && !this.isHandled(this.rest)) this.reportFailure();
    throw thrown;
  }

  private run(resolve: () => void, reject: (thrown: unknown) => void): void {
    const done = (): void => {
      this.restIsOver = true;
      resolve();
    };
    const failed = (error: unknown): void => {
      this.restIsOver = true;
      this.failure = { error };
      reject(error);
      this.rest?.handleRejection();
      if (this.isAbandoned) this.reportFailure();
    };
    try {
      const result = this.inner(this.ctx);
      if (result === undefined) done();
      else result.then(done, failed);
    } catch (thrown) {
      failed(thrown);
    }
  }

  /** Whether the rest has ended, and the middleware waited for its failure if there was one. */
  private isHandled(rest: NextPromise): boolean {
    return this.restIsOver && (this.failure === undefined || rest.isAwaited);
  }

  private reportFailure(): void {
    if (this.failure !== undefined) reportLate(this.ctx, this.failure.error, log);
  }
}

/** The promise that `next()` returns. It records whether any code waits for it. */
class NextPromise extends Promise<void> {
  isAwaited = false;

  /** Handles the rejection: if no code waits for it, Node would end the process because of an unhandled rejection. */
  handleRejection(): void {
    const { isAwaited } = this;
    this.catch(() => {});
    this.isAwaited = isAwaited;
  }
}

// `await`, `then` and `Promise.race` read the constructor of a promise before they wait for it (ECMA-262, PromiseResolve and
// SpeciesConstructor). The getter returns `Promise` itself, so that `await` makes no second promise.
void Object.defineProperty(NextPromise.prototype, "constructor", {
  get(this: NextPromise) {
    this.isAwaited = true;
    return Promise;
  },
});

function rejectSecondCall(): Promise<never> {
  const rejection = Promise.reject(new Error("next() was called twice by one middleware"));
  rejection.catch(() => {});
  return rejection;
}
