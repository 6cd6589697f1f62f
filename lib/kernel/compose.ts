/**
 * From a list of layers and middlewares to one call, once, when the application is built.
 */
import { answerWith } from "./answer.js";
import type { Context } from "./context.js";
import { asPromise, isPromise, Layer, type KoaMiddleware, type Middleware, type Next, type Run } from "./middleware.js";
import { tracing } from "./tracing.js";

const log = tracing.target("framework::http::middleware");

/** Puts `outer` around `inner`; the first of the list is the outermost. @internal */
export function compose(outer: readonly (Middleware | KoaMiddleware)[], inner: Run): Run {
  return outer.reduceRight<Run>((rest, each) => around(each, rest), inner);
}

function around(middleware: Middleware | KoaMiddleware, inner: Run): Run {
  if (middleware instanceof Layer) return middleware.wrap(inner);
  const handle = typeof middleware === "function" ? middleware : middleware.handle.bind(middleware);
  return (ctx) => {
    const result: unknown = handle(ctx, nextOnce(ctx, inner));
    return isPromise(result) ? asPromise(result).then((value) => answerOf(ctx, value)) : answerOf(ctx, result);
  };
}

function answerOf(ctx: Context, value: unknown): void {
  if (value !== undefined) answerWith(ctx, value);
}

async function run(ctx: Context, inner: Run): Promise<void> {
  await inner(ctx);
}

/** The rest of the chain for a middleware: a real promise, and only once. */
function nextOnce(ctx: Context, inner: Run): Next {
  let called = false;
  return () => {
    const rest = called ? Promise.reject(new Error("next() was called twice by one middleware")) : run(ctx, inner);
    called = true;
    // Whoever awaits it gets the failure all the same; a middleware that forgot to must not end the process.
    rest.catch((error: unknown) => {
      if (ctx.finished) log.warn("late failure", { error });
    });
    return rest;
  };
}
