/**
 * What a layer under test does with one request, seen from both of its sides: how often and when it calls the next one, what comes out of
 * it, and what is written to the response after its head was sent.
 */
import type { ServerResponse } from "node:http";
import type { Context } from "../http/context.js";
import { isPromise, type Run } from "../http/middleware.js";

export class LayerObservation {
  calls = 0;
  /** Set where the layer let an exception out. */
  thrown: { readonly value: unknown } | undefined;
  readonly faults: string[] = [];
  /** The layer does not wait for next. */
  detached = false;
  private finished = false;
  private pending = 0;

  /** @param inner what stands behind the layer, for this one request */
  constructor(readonly inner: Run) {}

  /** The outer side. */
  enter(ctx: Context, layer: Run): void | Promise<void> {
    this.watchHead(ctx.raw);
    try {
      const result = layer(ctx);
      if (isPromise(result))
        return result.then(
          () => this.leave(),
          (value: unknown) => this.fail(value),
        );
    } catch (value) {
      this.fail(value);
    }
    this.leave();
    return undefined;
  }

  /** The inner side: the layer calls next. */
  next(ctx: Context): void | Promise<void> {
    this.calls += 1;
    if (this.calls > 1) this.faults.push(`called next ${this.calls} times`);
    if (this.finished) this.detach("called next after it had finished: await it, or do not call it");
    else if (isRefused(ctx))
      this.faults.push(`called next after it had answered with ${ctx.raw.statusCode}: return instead`);
    if (this.calls > 1) throw new Error("next() was called twice by one middleware");
    const result = this.inner(ctx);
    if (isPromise(result)) this.watch(result);
    return result;
  }

  /** Sees to it as well that the promise is never an unhandled rejection, which would end the process of the test. */
  private watch(inner: Promise<void>): void {
    this.pending += 1;
    const settled = () => void (this.pending -= 1);
    inner.then(settled, settled);
  }

  private leave(): void {
    this.finished = true;
    if (this.pending > 0) this.detach("finished before next had: await next, or return its promise");
  }

  private detach(fault: string): void {
    this.detached = true;
    this.faults.push(fault);
  }

  private fail(value: unknown): never {
    this.finished = true;
    this.thrown = { value };
    throw value;
  }

  private watchHead(raw: ServerResponse): void {
    const watched = raw as unknown as Record<string, (...args: unknown[]) => unknown>;
    for (const name of ["setHeader", "appendHeader", "removeHeader", "writeHead"]) {
      const original = watched[name]?.bind(raw);
      watched[name] = (...args) => {
        if (!raw.headersSent) return original?.(...args);
        // Node would throw, and a layer that does not wait for next would have an unhandled rejection.
        this.faults.push(`called ${name}(${String(args[0])}) after the head was sent`);
        return raw;
      };
    }
  }
}

/** An answer that stands, rather than a default for what comes: a body, a refusing status, a head that is on its way. */
function isRefused({ raw, payload, deferred, statusIsExplicit }: Context): boolean {
  if (raw.headersSent || payload !== undefined || deferred !== undefined) return true;
  return statusIsExplicit && raw.statusCode >= 300;
}
