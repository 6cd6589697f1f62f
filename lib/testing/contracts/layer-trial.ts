/**
 * One layer on a real socket: outside it the last-resort handler, inside it a `Run` that each trial chooses. The rest of an application is
 * absent. `obeysLayerContract` is the public function; a test of an application uses `testApp`.
 */
import { once } from "node:events";
import type { Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type Koa from "koa";
import { DEFAULT_READ_LIMIT } from "../../http/body/body-reader.js";
import { TrustedProxies } from "../../http/request/client-address.js";
import { compose } from "../../http/compose.js";
import type { Context } from "../../http/request/context.js";
import { KoaApplication, type RequestChain } from "../../http/koa/koa-application.js";
import { isPromise, Layer, type KoaMiddleware, type Middleware, type Run } from "../../http/middleware.js";
import { lastResortHandler } from "../../pipeline/error-boundary.js";
import { SystemClock, type Clock } from "../../runtime/clock.js";
import { RequestHandler } from "../../server/request-handler.js";
import { createServer } from "../../server/server.js";
import { Transport, type RequestOptions } from "../transport.js";

export type LayerUnderTest = Middleware | KoaMiddleware;

export interface TrialOptions {
  /** Layers around the layer under test, the outermost first. */
  readonly within?: readonly LayerUnderTest[];
  /** The Koa application, for middleware that is created for one application; for example `builder.koa`. */
  readonly koa?: Koa;
  readonly clock?: Clock;
}

export interface TrialRequest extends RequestOptions {
  readonly method?: string;
  readonly path?: string;
}

/** The result of one request. */
export interface TrialResult {
  readonly observation: LayerObservation;
  /** `undefined` if the connection was cut, or the time limit passed, before a response. */
  readonly response: Response | undefined;
}

export class LayerTrial implements AsyncDisposable {
  private readonly transport: Transport;
  /** The number of requests for which the layer called next. */
  passed = 0;
  private current = new LayerObservation(() => {});

  private constructor(private readonly server: Server) {
    // The address of a TCP server that listens is an object.
    this.transport = new Transport((server.address() as AddressInfo).port);
  }

  static async start(
    layer: LayerUnderTest,
    { within = [], koa = new KoaApplication(), clock = new SystemClock() }: TrialOptions,
  ): Promise<LayerTrial> {
    const proxies = TrustedProxies.none;
    const application = toApplication(koa);
    application.share({ clock, proxies, readLimit: DEFAULT_READ_LIMIT });
    let chain: RequestChain | undefined;
    const handler = new RequestHandler((incoming, response) =>
      application.handleRequest(application.createContext(incoming, response), (ctx) => chain?.(ctx)),
    );
    const server = createServer(handler).listen(0, "127.0.0.1");
    await once(server, "listening");
    const trial = new LayerTrial(server);
    chain = lastResortHandler(compose(within, trial.composeObserved(layer)));
    return trial;
  }

  /** Whether the layer returned before next had settled, in the last request. */
  get returnedEarly(): boolean {
    return this.current.returnedEarly;
  }

  /** Sends one request, with `inner` inside the layer. */
  async send(inner: Run, { method = "GET", path = "/", ...options }: TrialRequest): Promise<TrialResult> {
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

  /** Composes the layer once, as an application does. The context identifies the observation of each request. */
  private composeObserved(layer: LayerUnderTest): Run {
    const observations = new WeakMap<Context, LayerObservation>();
    const next: Run = (ctx) => observations.get(ctx)?.next(ctx);
    const layered = layer instanceof Layer ? layer.wrap(next) : compose([allowRepeatedNext(layer, next)], next);
    return (ctx) => {
      observations.set(ctx, this.current);
      return this.current.enter(ctx, layered);
    };
  }
}

/** The middleware may have been created for a bare Koa application. */
function toApplication(koa: Koa): KoaApplication {
  if (koa instanceof KoaApplication) return koa;
  const application = new KoaApplication();
  for (const name of ["context", "request", "response"] as const)
    Object.defineProperties(application[name], Object.getOwnPropertyDescriptors(koa[name]));
  Object.assign(application.context, { app: koa });
  return application;
}

/** Lets a middleware call next more than once: `compose` would stop the second call before the observation could count it. */
function allowRepeatedNext(layer: Exclude<LayerUnderTest, Layer>, next: Run): KoaMiddleware {
  const handle = typeof layer === "function" ? layer : layer.handle.bind(layer);
  return (ctx: Context) =>
    handle(ctx, () => {
      const promise = (async () => next(ctx))();
      // If the layer ignores the promise, the observation reports it. An unhandled rejection would end the test process.
      promise.catch(() => {});
      return promise;
    });
}

/**
 * The behaviour of a layer in one request: the number and the times of its calls of next, the value that it throws, and the headers that it
 * changes after the head was sent.
 */
export class LayerObservation {
  /** How often the layer called next. */
  calls = 0;
  /** The value that the layer threw; `undefined` if it did not throw. */
  thrown: { readonly value: unknown } | undefined;
  readonly faults: string[] = [];
  /** The layer returned, or settled, before next had settled. */
  returnedEarly = false;
  private isFinished = false;
  private pendingNexts = 0;

  /** @param inner the handler inside the layer, for this request */
  constructor(readonly inner: Run) {}

  /** Runs the layer. */
  enter(ctx: Context, layer: Run): void | Promise<void> {
    this.watchHead(ctx.raw);
    try {
      const result = layer(ctx);
      if (isPromise(result))
        return result.then(
          () => this.finish(),
          (value: unknown) => this.fail(value),
        );
    } catch (value) {
      this.fail(value);
    }
    this.finish();
    return undefined;
  }

  /** Runs `inner`, when the layer calls next. */
  next(ctx: Context): void | Promise<void> {
    this.calls += 1;
    if (this.calls > 1) this.faults.push(`called next ${this.calls} times`);
    if (this.isFinished) {
      this.reportEarlyReturn("called next after it had finished: await it, or do not call it");
      // A timer of the layer may have called. An error of the handler would then end the test process.
      return undefined;
    }
    if (isDecided(ctx))
      this.faults.push(`called next after it had responded with ${ctx.raw.statusCode}: return instead`);
    if (this.calls > 1) throw new Error("next() was called twice by one middleware");
    const result = this.inner(ctx);
    if (isPromise(result)) this.count(result);
    return result;
  }

  /** Handles a rejection too: an unhandled rejection would end the test process. */
  private count(inner: Promise<void>): void {
    this.pendingNexts += 1;
    const settled = () => void (this.pendingNexts -= 1);
    inner.then(settled, settled);
  }

  private finish(): void {
    this.isFinished = true;
    if (this.pendingNexts > 0) this.reportEarlyReturn("finished before next had: await next, or return its promise");
  }

  private reportEarlyReturn(fault: string): void {
    this.returnedEarly = true;
    this.faults.push(fault);
  }

  private fail(value: unknown): never {
    this.isFinished = true;
    this.thrown = { value };
    throw value;
  }

  private watchHead(raw: ServerResponse): void {
    // Replaces four methods by name, which the type of the response does not allow.
    const methods = raw as unknown as Record<string, (...args: unknown[]) => unknown>;
    for (const name of ["setHeader", "appendHeader", "removeHeader", "writeHead"]) {
      const original = methods[name]?.bind(raw);
      methods[name] = (...args) => {
        if (!raw.headersSent) return original?.(...args);
        // Node's method throws here. In a layer that does not await next, that would be an unhandled rejection.
        this.faults.push(`called ${name}(${String(args[0])}) after the head was sent`);
        return raw;
      };
    }
  }
}

/** Whether the response is decided: a body, a status from 300 on, or a head that was sent. A status below 300 alone is a default. */
function isDecided({ raw, payload, deferred, givenStatus, headIsSent }: Context): boolean {
  if (headIsSent || payload !== undefined || deferred !== undefined) return true;
  return givenStatus !== undefined && raw.statusCode >= 300;
}
