/**
 * One layer on a real socket, with a backstop outside and whatever a trial wants inside. Nothing else of an application is there.
 */
import type { ServerResponse, Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import Koa from "koa";
import type { Context } from "../http/context.js";
import { isPromise, type Run, Layer, type KoaMiddleware, type Middleware } from "../http/middleware.js";
import { RequestHandler } from "../server/request-handler.js";
import { createServer } from "../server/server.js";
import { DEFAULT_READ_LIMIT } from "../http/body-reader.js";
import { TrustedProxies } from "../http/client-address.js";
import { SystemClock, type Clock } from "../runtime/clock.js";
import { compose } from "../http/compose.js";
import { lastResortHandler } from "../pipeline/error-boundary.js";
import { Transport, type RequestOptions } from "./transport.js";

/**
 * What a layer under test does with one request, seen from both of its sides: how often and when it calls the next one, what comes out of
 * it, and what is written to the response after its head was sent.
 */
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

/** What can be tried. */
export type LayerUnderTest = Middleware | KoaMiddleware;

export interface TrialOptions {
  /** Layers that stand around it, as they would in the application. */
  readonly within?: readonly LayerUnderTest[];
  /** For middleware that was made for one; `builder.koa`, for example. */
  readonly koa?: Koa;
  readonly clock?: Clock;
}

/** What came of one request. */
export interface TrialResult {
  readonly observation: LayerObservation;
  /** `undefined` where no answer came: the connection was cut, or the time was up. */
  readonly response: Response | undefined;
}

export interface TrialRequest extends RequestOptions {
  readonly method?: string;
  readonly path?: string;
}

export class LayerTrial implements AsyncDisposable {
  private readonly transport: Transport;
  /** How many requests the layer let through. */
  passed = 0;
  private current = new LayerObservation(() => {});

  private constructor(private readonly server: Server) {
    // A TCP server that listens has an address of this kind.
    this.transport = new Transport((server.address() as AddressInfo).port);
  }

  static async start(
    layer: LayerUnderTest,
    { within = [], koa = new Koa(), clock = new SystemClock() }: TrialOptions,
  ): Promise<LayerTrial> {
    const entrance = new RequestHandler({
      app: koa,
      clock,
      proxies: TrustedProxies.none,
      readLimit: DEFAULT_READ_LIMIT,
    });
    const server = createServer(entrance).listen(0, "127.0.0.1");
    await once(server, "listening");
    const trial = new LayerTrial(server);
    entrance.setHandler(lastResortHandler(compose(within, trial.watched(layer))));
    return trial;
  }

  /** In the last request, the layer did not wait for next. */
  get detached(): boolean {
    return this.current.detached;
  }

  /** One request, with `inner` behind the layer. */
  async ask(inner: Run, { method = "GET", path = "/", ...options }: TrialRequest): Promise<TrialResult> {
    const observation = new LayerObservation(inner);
    this.current = observation;
    const response = await this.transport.send(method, path, options).catch(() => undefined);
    if (observation.calls > 0) this.passed += 1;
    return { observation, response };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    if (this.server.listening) await once(this.server, "close");
  }

  /** The layer, composed once as in an application; each request finds its observation. */
  private watched(layer: LayerUnderTest): Run {
    const observations = new WeakMap<Context, LayerObservation>();
    const next: Run = (ctx) => observations.get(ctx)?.next(ctx);
    const layered = layer instanceof Layer ? layer.wrap(next) : compose([attempting(layer, next)], next);
    return (ctx) => {
      observations.set(ctx, this.current);
      return this.current.enter(ctx, layered);
    };
  }
}

/** A middleware whose every call of next is seen: the framework's own guard would stop the second one. */
function attempting(layer: Exclude<LayerUnderTest, Layer>, next: Run): KoaMiddleware {
  const handle = typeof layer === "function" ? layer : layer.handle.bind(layer);
  return (ctx: Context) =>
    handle(ctx, () => {
      const promise = (async () => next(ctx))();
      // Where the layer does not wait for it, the observation says so; an unhandled rejection would end the process of the test.
      promise.catch(() => {});
      return promise;
    });
}
