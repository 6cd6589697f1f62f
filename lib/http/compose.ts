/**
 * Composes a list of layers and middlewares into one call, once for each chain. It also takes care of a middleware that ends before its
 * `next()` does.
 */
import { respondWith } from "./response/returned-value.js";
import type { Context } from "./request/context.js";
import { getRouteField } from "./failures/failed-request.js";
import {
  toPromise,
  isPromise,
  Layer,
  getMiddlewareName,
  StageLayer,
  type AnyMiddleware,
  type KoaMiddleware,
  type Next,
  type Run,
} from "./middleware.js";
import { reportLate } from "./failures/unhandled-error.js";
import { ObservedPromise } from "../runtime/observed-promise.js";
import { profile } from "../runtime/profile.js";
import { tracing } from "../tracing/tracing.js";

const log = tracing.target("framework::http::middleware");

/** Puts `outer` around `inner`; the first of the list is the outermost. @internal */
export function compose(outer: readonly AnyMiddleware[], inner: Run): Run {
  return outer.reduceRight<Run>((rest, each) => wrapMiddleware(each, rest), inner);
}

/** The layers behind the functions of `toKoaMiddleware`. */
const layersOfFunctions = new WeakMap<object, readonly AnyMiddleware[]>();

/** One Koa function for these layers. `compose` takes the layers in its place; any other code may call it as Koa middleware. @internal */
export function toKoaMiddleware(name: string, layers: readonly AnyMiddleware[]): KoaMiddleware {
  const nexts = new WeakMap<Context, Next>();
  let composed: Run | undefined;
  const run: KoaMiddleware = (ctx: Context, next) => {
    composed ??= compose(layers, (inner) => nexts.get(inner)?.());
    nexts.set(ctx, next);
    return composed(ctx);
  };
  layersOfFunctions.set(run, layers);
  return Object.defineProperty(run, "name", { value: name });
}

function wrapMiddleware(middleware: AnyMiddleware, inner: Run): Run {
  const layers = layersOfFunctions.get(middleware);
  if (layers !== undefined) return compose(layers, inner);
  if (middleware instanceof StageLayer) return middleware.wrap(inner);
  if (middleware instanceof Layer) return wrapLayer(middleware, inner);
  const handle = typeof middleware === "function" ? middleware : middleware.handle.bind(middleware);
  return (ctx) => {
    const step = new Step(ctx, inner, middleware);
    let result: unknown;
    try {
      result = handle(ctx, () => step.next());
    } catch (thrown) {
      return step.handleFailure(thrown);
    }
    return step.handleResult(result);
  };
}

/** A layer of the application, which may forget the promise of its inner run as a middleware may forget that of `next()`. */
function wrapLayer(layer: Layer, inner: Run): Run {
  const run = layer.wrap((ctx) => {
    let step = findStep(ctx);
    while (step !== undefined && step.inner !== inner) step = step.outer;
    return step === undefined ? inner(ctx) : step.enter();
  });
  return (ctx) => {
    const step = new Step(ctx, inner, layer, findStep(ctx));
    ctx.layerStep = step;
    let result: unknown;
    try {
      result = run(ctx);
    } catch (thrown) {
      return step.handleFailure(thrown);
    }
    return step.handleResult(isPromise(result) ? result : undefined);
  };
}

/** Only `wrapLayer` writes this field. */
function findStep(ctx: Context): Step | undefined {
  return ctx.layerStep as Step | undefined;
}

/**
 * The call of one middleware for one request. A middleware may end before its `next()` does: on purpose (`Promise.race([next(), timer])`),
 * or because an `await` is missing. If the request has no response then, the chain waits for `next()` instead of the middleware. A failure
 * of the rest is reported in each case.
 */
class Step {
  rest: ObservedPromise<void> | undefined = undefined;
  private wasCalled = false;
  private restHasEnded = false;
  private failure: { readonly error: unknown } | undefined = undefined;
  /** The middleware has ended, and the chain does not wait for its `next()`. */
  private isAbandoned = false;

  constructor(
    private readonly ctx: Context,
    readonly inner: Run,
    private readonly middleware: AnyMiddleware,
    readonly outer?: Step,
  ) {}

  /** Runs the rest of the chain, once. Returns a real promise, also if the rest is synchronous. */
  next(): Promise<void> {
    if (this.wasCalled) return rejectSecondCall();
    this.wasCalled = true;
    this.rest = new ObservedPromise((resolve, reject) => this.run(resolve, reject));
    if (this.failure !== undefined) this.rest.handleRejection();
    return this.rest;
  }

  /** Runs the rest of the chain as `next` does, for a layer. Returns `undefined` if the rest is synchronous, and passes its error. */
  enter(): void | Promise<void> {
    // No code catches an error of a layer that has ended: thrown in a timer, it would end the process.
    if (this.isAbandoned) return this.next();
    if (this.wasCalled) return rejectSecondCall();
    this.wasCalled = true;
    const result = this.inner(this.ctx);
    if (result === undefined) return undefined;
    this.rest = new ObservedPromise((resolve, reject) => this.follow(result, resolve, reject));
    return this.rest;
  }

  handleResult(result: unknown): void | Promise<void> {
    // Most middlewares return the promise of `next()`, whose end is the end of the middleware.
    if (result !== undefined && result === this.rest) return this.rest;
    if (!isPromise(result)) return this.handleEnd(result);
    return toPromise(result).then(
      (value) => this.handleEnd(value),
      (thrown) => this.handleFailure(thrown),
    );
  }

  handleFailure(thrown: unknown): never {
    this.isAbandoned = true;
    if (this.rest !== undefined && !this.isHandled(this.rest)) this.reportFailure();
    throw thrown;
  }

  /** Returns a promise if the chain must wait for the rest. */
  private handleEnd(value: unknown): void | Promise<void> {
    const { ctx, rest } = this;
    this.isAbandoned = true;
    if (value !== undefined && !(this.middleware instanceof Layer)) respondWith(ctx, value);
    if (rest === undefined) return this.wasCalled ? undefined : warnOfSilence?.(ctx, this.middleware);
    if (this.isHandled(rest)) return undefined;
    if (ctx.hasResponse || ctx.isWrittenByHand) return this.reportFailure();
    this.isAbandoned = false;
    log.warn("next() was not awaited", {
      middleware: getMiddlewareName(this.middleware),
      ...getRouteField(ctx),
      fix: "write await next(), or return next()",
    });
    return rest;
  }

  private run(resolve: () => void, reject: (thrown: unknown) => void): void {
    try {
      const result = this.inner(this.ctx);
      if (result !== undefined) return this.follow(result, resolve, reject);
      this.restHasEnded = true;
      resolve();
    } catch (thrown) {
      this.handleRestFailure(thrown, reject);
    }
  }

  private follow(result: Promise<void>, resolve: () => void, reject: (thrown: unknown) => void): void {
    result.then(
      () => {
        this.restHasEnded = true;
        resolve();
      },
      (thrown: unknown) => this.handleRestFailure(thrown, reject),
    );
  }

  private handleRestFailure(error: unknown, reject: (thrown: unknown) => void): void {
    this.restHasEnded = true;
    this.failure = { error };
    reject(error);
    this.rest?.handleRejection();
    if (this.isAbandoned) this.reportFailure();
  }

  /** Whether the rest has ended, and the middleware waited for its failure if there was one. */
  private isHandled(rest: ObservedPromise<void>): boolean {
    return this.restHasEnded && (this.failure === undefined || rest.isAwaited);
  }

  private reportFailure(): void {
    if (this.failure !== undefined) reportLate(this.ctx, this.failure.error, log);
  }
}

function rejectSecondCall(): Promise<never> {
  const rejection = Promise.reject(new Error("next() was called twice by one middleware"));
  rejection.catch(() => {});
  return rejection;
}

/** The middlewares that were warned about, for each application. */
const silent = new WeakMap<object, WeakSet<AnyMiddleware>>();

/**
 * A request is a 404 if a middleware neither responds nor calls `next()`. Only a debug build checks this. It warns once for each
 * middleware.
 */
const warnOfSilence = profile === "debug" ? reportSilence : undefined;

function reportSilence(ctx: Context, middleware: AnyMiddleware): void {
  if (ctx.hasResponse || ctx.isWrittenByHand) return;
  const known = silent.get(ctx.app) ?? new WeakSet();
  if (known.has(middleware)) return;
  silent.set(ctx.app, known.add(middleware));
  const name = getMiddlewareName(middleware);
  log.warn("a middleware neither responded nor called next(): the response is a 404", {
    middleware: name,
    ...getRouteField(ctx),
    fix: "write await next(), or return a value",
  });
}
