/**
 * One layer on a real socket, with a backstop outside and whatever a trial wants inside. Nothing else of an application is there.
 */
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import Koa from "koa";
import { Entrance } from "../server/request-handler.js";
import { createServer } from "../server/server.js";
import { DEFAULT_READ_LIMIT } from "../http/body-reader.js";
import { TrustedProxies } from "../http/client-address.js";
import { SystemClock, type Clock } from "../runtime/clock.js";
import { compose } from "../http/compose.js";
import type { Context } from "../http/context.js";
import { Layer, type KoaMiddleware, type Middleware, type Run } from "../http/middleware.js";
import { backstop } from "../pipeline/error-boundary.js";
import { LayerObservation } from "./layer-observation.js";
import { Transport, type RequestOptions } from "./transport.js";

/** What can be tried. */
export type TriedLayer = Middleware | KoaMiddleware;

export interface TrialOptions {
  /** Layers that stand around it, as they would in the application. */
  readonly within?: readonly TriedLayer[];
  /** For middleware that was made for one; `builder.koa`, for example. */
  readonly koa?: Koa;
  readonly clock?: Clock;
}

/** What came of one request. */
export interface Outcome {
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

  static async of(
    layer: TriedLayer,
    { within = [], koa = new Koa(), clock = new SystemClock() }: TrialOptions,
  ): Promise<LayerTrial> {
    const entrance = new Entrance({ app: koa, clock, proxies: TrustedProxies.none, readLimit: DEFAULT_READ_LIMIT });
    const server = createServer(entrance).listen(0, "127.0.0.1");
    await once(server, "listening");
    const trial = new LayerTrial(server);
    entrance.lead(backstop(compose(within, trial.watched(layer))));
    return trial;
  }

  /** In the last request, the layer did not wait for next. */
  get detached(): boolean {
    return this.current.detached;
  }

  /** One request, with `inner` behind the layer. */
  async ask(inner: Run, { method = "GET", path = "/", ...options }: TrialRequest): Promise<Outcome> {
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
  private watched(layer: TriedLayer): Run {
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
function attempting(layer: Exclude<TriedLayer, Layer>, next: Run): KoaMiddleware {
  const handle = typeof layer === "function" ? layer : layer.handle.bind(layer);
  return (ctx: Context) =>
    handle(ctx, () => {
      const promise = (async () => next(ctx))();
      // Where the layer does not wait for it, the observation says so; an unhandled rejection would end the process of the test.
      promise.catch(() => {});
      return promise;
    });
}
