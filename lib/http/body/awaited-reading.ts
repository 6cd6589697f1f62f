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
import { ObservedPromise } from "../../runtime/observed-promise.js";

const log = tracing.target("framework::http::body");

/** @param reader as the handler writes it, for example `ctx.json` @internal */
export function expectAwait<T>(ctx: Exchange, reader: string, reading: Promise<T>): Promise<T> {
  if (profile === "release") return reading;
  const awaited = new ObservedPromise<T>((resolve) => resolve(reading));
  awaited.handleRejection();
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
