/**
 * From a list of layers and middlewares to one call, once, when the application is built.
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
import { reportLate } from "./refuse.js";
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
    // Most return what `next()` gave them: that needs no promise around it.
    if (result !== undefined && result === step.rest) return step.rest;
    if (!isPromise(result)) return step.ended(result);
    return asPromise(result).then(
      (value) => step.ended(value),
      (thrown: unknown) => step.failed(thrown),
    );
  };
}

/**
 * One middleware at work on one request. It may end before its `next()` does, on purpose (`Promise.race([next(), timer])`) or because
 * an `await` is missing. Where nothing is answered, the chain waits in its place; a failure is never lost.
 */
class Step {
  rest: Rest | undefined = undefined;
  private wasCalled = false;
  private restIsOver = false;
  private failure: { readonly error: unknown } | undefined = undefined;
  /** The middleware has ended, and the chain went on without its `next()`. */
  private isLeft = false;

  constructor(
    private readonly ctx: Context,
    private readonly inner: Run,
    private readonly middleware: Middleware | KoaMiddleware,
  ) {}

  /** The rest of the chain for the middleware: a real promise, and only once. */
  readonly next: Next = () => {
    if (this.wasCalled) return refuseSecondCall();
    this.wasCalled = true;
    this.rest = new Rest((resolve, reject) => this.run(resolve, reject));
    if (this.failure !== undefined) this.rest.spareProcess();
    return this.rest;
  };

  /** The middleware returned `value`. A promise where the chain has to wait for the rest. */
  ended(value: unknown): void | Promise<void> {
    const { ctx, rest } = this;
    this.isLeft = true;
    if (value !== undefined) answerWith(ctx, value);
    if (rest === undefined || this.isKnown(rest)) return undefined;
    if (ctx.isAnswered || ctx.isWrittenByHand) return this.reportFailure();
    this.isLeft = false;
    log.warn("next() was not awaited", { middleware: middlewareName(this.middleware) });
    return rest;
  }

  failed(thrown: unknown): never {
    this.isLeft = true;
    if (this.rest !== undefined && !this.isKnown(this.rest)) this.reportFailure();
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
      this.rest?.spareProcess();
      if (this.isLeft) this.reportFailure();
    };
    try {
      const result = this.inner(this.ctx);
      if (result === undefined) done();
      else result.then(done, failed);
    } catch (thrown) {
      failed(thrown);
    }
  }

  /** Whether the middleware could see how the rest ended. */
  private isKnown(rest: Rest): boolean {
    return this.restIsOver && (this.failure === undefined || rest.isAwaited);
  }

  private reportFailure(): void {
    if (this.failure !== undefined) reportLate(this.ctx, this.failure.error, log);
  }
}

/** The promise that `next()` returns. It notes whether anything waits for it. */
class Rest extends Promise<void> {
  isAwaited = false;

  /** Has a failure that nothing waits for be no unhandled rejection, which would end the process. */
  spareProcess(): void {
    const { isAwaited } = this;
    this.catch(() => {});
    this.isAwaited = isAwaited;
  }
}

// `await`, `then` and `Promise.race` read the constructor of a promise before they wait for it (ECMA-262, PromiseResolve and
// SpeciesConstructor). As it is `Promise` itself, `await` needs no second promise.
void Object.defineProperty(Rest.prototype, "constructor", {
  get(this: Rest) {
    this.isAwaited = true;
    return Promise;
  },
});

function refuseSecondCall(): Promise<never> {
  const refusal = Promise.reject(new Error("next() was called twice by one middleware"));
  refusal.catch(() => {});
  return refusal;
}
