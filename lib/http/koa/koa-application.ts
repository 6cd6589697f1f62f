/**
 * The Koa application behind `builder.koa` and `ctx.app`. From `build()` on it serves: `koa.middleware` has a function for each stage, and
 * Koa's own `callback()` makes the listener. Three parts are of the framework: the context, the chain that Koa's option `compose` makes from
 * the functions, and the response, which the end of that chain sends. Before `build()` `koa.middleware` has the application's own layers.
 *
 * Each application has separate classes for the context and its Koa request and response. Their prototypes are `koa.context`,
 * `koa.request` and `koa.response`, so members that middleware adds there exist in this application only.
 */
import type { IncomingMessage } from "node:http";
import type Koa from "koa";
import type { FrameworkError } from "../../errors/framework-error.js";
import { createSetupError } from "../../errors/setup-error.js";
import type { Clock } from "../../runtime/clock.js";
import { nodeHttp } from "../../runtime/node-http.js";
import { NO_UPLOADS } from "../body/uploads.js";
import { Connection, Connections, isQueued } from "../connection/connection.js";
import { prepareHttp2 } from "../connection/http2-request.js";
import { getMiddlewareName, type KoaMiddleware } from "../middleware.js";
import type { TrustedProxies } from "../request/client-address.js";
import { Context } from "../request/context.js";
import type { ProblemTranslator, UploadReader } from "../request/exchange.js";
import { ErrorEvents } from "./error-events.js";
import { KoaRequestFace, KoaResponseFace } from "./koa-faces.js";

/** The values that all contexts of one application share. */
export interface SharedContextValues {
  readonly clock: Clock;
  readonly proxies: TrustedProxies;
  readonly readLimit: number;
  /** `undefined`: `ctx.uploads` throws. */
  readonly uploadReader?: UploadReader | undefined;
  readonly problemTranslator?: ProblemTranslator | undefined;
}

/** The chain inside the last-resort handler: it never throws and never rejects. */
export type RequestChain = (ctx: Context) => void;

/** Makes the chain from the functions of `koa.middleware`. */
export type ComposeFunctions = (functions: readonly KoaMiddleware[]) => RequestChain;

/** Koa's types lack the option. */
interface KoaOptions extends Pick<NonNullable<ConstructorParameters<typeof Koa>[0]>, "env"> {
  readonly compose: (this: KoaApplication, functions: readonly KoaMiddleware[]) => RequestChain;
}

export class KoaApplication extends ErrorEvents {
  /** The connections of all listeners that `callback()` made. @internal */
  readonly connections = new Connections();
  // A property that is `private` would be printed with the prototype of the contexts, whose getters throw.
  readonly #ContextClass = createContextClass(this);
  /** @internal */
  composeFunctions: ComposeFunctions = refuseToServe;

  constructor() {
    const options: KoaOptions = { compose: composeOnApplication };
    super(options);
  }

  /** Sets the values that the contexts share. @internal */
  share({ uploadReader = NO_UPLOADS, ...values }: SharedContextValues): void {
    Object.assign(this.context, values, { uploadReader });
  }

  /** Serves requests from now on. @internal */
  serveWith(middleware: readonly KoaMiddleware[], compose: ComposeFunctions): void {
    this.middleware = [...middleware];
    this.composeFunctions = compose;
  }

  /** Whether it serves, from `build()` on. @internal */
  get isServing(): boolean {
    return this.composeFunctions !== refuseToServe;
  }

  /** Adds middleware to the application's layers, as `.layer()` of the builder does. */
  override use<State, Custom>(
    middleware: Koa.Middleware<Koa.DefaultState & State, Koa.DefaultContext & Custom>,
  ): Koa<Koa.DefaultState & State, Koa.DefaultContext & Custom> {
    if (this.isServing) throw createUseError(middleware);
    return super.use(middleware);
  }

  override callback(): ReturnType<Koa["callback"]> {
    const hadListener = this.listenerCount("error") > 0;
    const listener = super.callback();
    // Koa adds its listener where there is none. It would write the errors to the console instead of the log.
    // oxlint-disable-next-line typescript/unbound-method -- Koa adds it unbound.
    if (!hadListener) this.off("error", this.onerror);
    return listener;
  }

  /** Koa calls it for each request; koa-websocket calls it without a response. */
  override createContext(
    incoming: IncomingMessage,
    response = new nodeHttp.ServerResponse(incoming),
  ): Context & Koa.ParameterizedContext {
    const ctx = new this.#ContextClass(incoming, response, Connection.of(incoming, this.connections));
    // Koa's members come through the prototype, which the compiler does not see.
    return ctx as Context & Koa.ParameterizedContext;
  }

  /** Koa calls it with each new context. The request is in flight from here on. */
  handleRequest(ctx: Context, chain: RequestChain): void {
    const { connection, incoming, raw } = ctx;
    if (connection.wasReset) return void incoming.socket.destroy();
    if (connection.stream === undefined) {
      connection.addResponse(raw);
      if (isQueued(raw)) return connection.start(raw, ctx.clock, () => start(ctx, chain));
    } else prepareHttp2(incoming, raw, connection.stream);
    start(ctx, chain);
  }
}

/** Koa calls its option on the application. */
function composeOnApplication(this: KoaApplication, functions: readonly KoaMiddleware[]): RequestChain {
  return this.composeFunctions(functions);
}

function refuseToServe(): never {
  const detail = "builder.koa serves from build() on: call build() before koa.callback() and koa.listen()";
  throw createSetupError("E_KOA_SERVE", detail);
}

function start(ctx: Context, chain: RequestChain): void {
  if (ctx.connection.isClosing) return;
  ctx.connection.addRequest(ctx);
  chain(ctx);
}

function createContextClass(koa: Koa): typeof Context {
  class ApplicationContext<
    Names extends string = never,
    Params extends object = Readonly<Record<Names, string>>,
    Input = unknown,
  > extends Context<Names, Params, Input> {}
  class RequestFace extends KoaRequestFace {}
  class ResponseFace extends KoaResponseFace {}
  Object.assign(ApplicationContext.prototype, { app: koa, RequestFace, ResponseFace });
  // Accessors, because a print of the application reads the values of properties: the getters of these prototypes throw without a request.
  Object.defineProperties(koa, {
    context: { get: () => ApplicationContext.prototype },
    request: { get: () => RequestFace.prototype },
    response: { get: () => ResponseFace.prototype },
  });
  return ApplicationContext;
}

function createUseError(middleware: KoaMiddleware): FrameworkError {
  const detail = `koa.use(${getMiddlewareName(middleware)}) was called after build(), when the order of the stages is fixed: call it before, or use .layer(middleware) of the builder`;
  return createSetupError("E_KOA_USE", detail);
}
