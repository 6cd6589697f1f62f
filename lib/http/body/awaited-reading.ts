/**
 * Detects a handler that reads the body, or a query by a schema, without `await`: `const { title } = ctx.json(schema)`. A debug build logs
 * a warning with the route after the response is sent. A release build returns the promise of the reader itself. Not for reads by the
 * framework.
 */
import { FrameworkError } from "../../errors/framework-error.js";
import { profile } from "../../runtime/profile.js";
import { tracing } from "../../tracing/tracing.js";
import type { Exchange } from "../request/exchange.js";
import { getRouteField } from "../failures/failed-request.js";
import { markHandled } from "../../runtime/mark-handled.js";

const log = tracing.target("framework::http::body");

/** A subclass is needed because `await` does not call the `then` of a plain promise. */
class AwaitedReading<T> extends Promise<T> {
  isAwaited = false;

  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- a promise has it
  override then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.isAwaited = true;
    return super.then(onFulfilled, onRejected);
  }
}

/** @param reader as the handler writes it, for example `ctx.json` @internal */
export function expectAwait<T>(ctx: Exchange, reader: string, reading: Promise<T>): Promise<T> {
  if (profile === "release") return reading;
  const awaited = new AwaitedReading<T>((resolve) => resolve(reading));
  void markHandled(awaited);
  awaited.isAwaited = false;
  const check = (failure: unknown): void => {
    // The handler may await another promise first.
    const report = (): void => void (awaited.isAwaited || warn(ctx, reader, failure));
    if (awaited.isAwaited) return;
    if (ctx.raw.closed) report();
    else ctx.raw.once("close", report);
  };
  reading.then(() => check(undefined), check);
  return awaited;
}

/** Does not warn of an error response, which needs no body. */
function warn(ctx: Exchange, reader: string, failure: unknown): void {
  if (!ctx.headIsSent || ctx.raw.statusCode >= 400) return;
  const code = failure instanceof FrameworkError ? { code: failure.code } : {};
  log.warn(`the handler did not wait for ${reader}(…): write await before it`, { ...getRouteField(ctx), ...code });
}
