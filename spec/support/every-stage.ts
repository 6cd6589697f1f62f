/**
 * An application with every stage on, for tests of the whole pipeline. It calls every method of the builder; a new method that is not
 * called here is a compile error.
 */
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  AppConfig,
  type ApplicationBuilder,
  BadRequestError,
  Clock,
  type Context,
  Controller,
  ErrorMapping,
  Get,
  Inject,
  Maintenance,
  type Middleware,
  Module,
  type Next,
  provide,
  ProxyAction,
  RateLimit,
  redirect,
  Route,
  Routes,
  SecurityHeaders,
  token,
} from "../../lib/entries/main.js";
import { CsrfConfig, SessionConfig } from "../../lib/entries/session.js";
import { Metrics } from "../../lib/observe/metrics/metrics.js";
import type { MiddlewareInput } from "../../lib/routing/middleware.js";
import { PageContracts } from "../../lib/stages/pages/contract.js";
import { Pages } from "../../lib/stages/pages/pages.js";
import { tracing } from "../../lib/tracing/tracing.js";
import { FakeClock } from "../../lib/testing/fake-clock.js";
import { Gate } from "./gate.js";
import { ROOT } from "./sources.js";

export const ORIGIN = "https://front.example";
/** No development server listens there, unless a test starts one. */
export const DEV_ENDPOINT = join(tmpdir(), `every-stage-${process.pid}.sock`);
export const LIMIT_BYTES = 100;
export const LIMIT_MS = 1000;
/** The requests of one client in an hour; the header `x-client` identifies the client. */
export const QUOTA = 30;
const SESSION_KEY = "5a".repeat(64);
/** Long enough to be worth compressing. */
export const LONG = "a sentence that is said again and again. ".repeat(60);

type Call = (builder: ApplicationBuilder) => unknown;
/** Every method except `layer`, whose order counts, and except the methods of the test kit. */
type Setting = Exclude<keyof ApplicationBuilder, "koa" | "plan" | "layer" | "build" | "testOverrides" | "testDefaults">;

const log = tracing.target("spec::handler");
const Greeting = token<string>("greeting");

@Controller("/module")
class GreetingController {
  constructor(@Inject(Greeting) private readonly greeting: string) {}

  @Get("/", "greeting")
  greet() {
    return this.greeting;
  }
}

@Module({ controllers: [GreetingController] })
export class GreetingModule {}

function handle({ method }: Context): string {
  log.info("handled", { method });
  return "a page";
}

/** Adds the name of the layer to a header of the response. */
function visit(ctx: Context, name: string, next: Next): Promise<void> {
  ctx.append("x-layers", name);
  return next();
}

class SecondLayer implements Middleware {
  handle(ctx: Context, next: Next): unknown {
    return visit(ctx, "second", next);
  }
}

const thirdLayer: Middleware = { handle: (ctx, next) => visit(ctx, "third", next) };

export class EveryStage {
  readonly clock = new FakeClock();
  protected readonly time: Clock = this.clock;
  readonly maintenance = new Maintenance();
  readonly metrics = new Metrics();

  /** Opens when a request reaches the handler of `/slow`, which never responds. */
  readonly slowBegun = new Gate();

  /** A Koa function, a class and an object. Their order matters. */
  readonly layers: readonly MiddlewareInput[] = [
    (ctx: Context, next: Next) => visit(ctx, "first", next),
    SecondLayer,
    thirdLayer,
  ];

  /** One call of every other method. Their order must not matter. */
  readonly settings: Readonly<Record<Setting, Call>> = {
    routes: (builder) => builder.routes(this.routes()),
    provide: (builder) => builder.provide(provide(Clock).useValue(this.time), provide(Greeting).useValue("hello")),
    config: (builder) => builder.config(new AppConfig({ name: "every", url: "https://shop.example", port: 4001 })),
    port: (builder) => builder.port(4002),
    bind: (builder) => builder.bind("127.0.0.2"),
    attach: (builder) => builder.attach(() => undefined),
    trustedProxies: (builder) => builder.trustedProxies("127.0.0.0/8"),
    devProxy: (builder) => builder.devProxy({ endpoint: DEV_ENDPOINT }),
    proxy: (builder) => builder.proxy(({ url }) => actionFor(url)),
    apiDocs: (builder) => builder.apiDocs(),
    health: (builder) => builder.health(true),
    healthPrefix: (builder) => builder.healthPrefix("/health"),
    uagEndpoint: (builder) => builder.uagEndpoint(),
    lifecycle: (builder) => builder.lifecycle({ drainDelayMs: 1, probeTimeoutMs: 2 }),
    compression: (builder) => builder.compression(),
    securityHeaders: (builder) =>
      builder.securityHeaders(new SecurityHeaders().withHsts().withCspNonce("script-src 'nonce-{nonce}'")),
    cors: (builder) => builder.cors({ origins: [ORIGIN], exposeHeaders: ["x-request-id"] }),
    requestId: (builder) => builder.requestId(),
    traceContext: (builder) => builder.traceContext(),
    accessLog: (builder) => builder.accessLog(),
    metrics: (builder) => builder.metrics(this.metrics),
    catchPanic: (builder) => builder.catchPanic(),
    errorMapping: (builder) => builder.errorMapping(new ErrorMapping()),
    bodyLimit: (builder) => builder.bodyLimit(LIMIT_BYTES),
    timeout: (builder) => builder.timeout(LIMIT_MS, { status: 408 }),
    maintenance: (builder) => builder.maintenance(this.maintenance),
    rateLimit: (builder) => builder.rateLimit(RateLimit.perHour(QUOTA).by({ header: "x-client" })),
    session: (builder) => builder.session(new SessionConfig(SESSION_KEY)),
    csrf: (builder) => builder.csrf(new CsrfConfig()),
    pages: (builder) => builder.pages(new Pages()),
    pageContracts: (builder) => builder.pageContracts(new PageContracts()),
    redirectMapper: (builder) => builder.redirectMapper(true),
    stripResponses: (builder) => builder.stripResponses(true),
    staticFiles: (builder) => builder.staticFiles({ root: join(ROOT, "samples/links/public") }),
  };

  /** Calls all settings and adds the layers. */
  applyTo(builder: ApplicationBuilder): ApplicationBuilder {
    for (const call of Object.values(this.settings)) call(builder);
    return builder.layer(...this.layers);
  }

  private routes(): Routes {
    return new Routes([
      Route.get("/page", handle),
      Route.get("/long", () => LONG),
      Route.get("/robots.txt", () => "of a route"),
      Route.get("/bad", () => Promise.reject(new BadRequestError("no"))),
      Route.get("/panic", () => Promise.reject(new TypeError("of the handler"))),
      Route.get("/away", () => redirect().route("greeting")),
      Route.get("/part", () => redirect().to("/page#part")),
      Route.post("/echo", (ctx: Context) => ctx.text()),
      Route.get("/slow", () => {
        this.slowBegun.open();
        return new Promise(() => {});
      }),
    ]);
  }
}

function actionFor(url: string): ProxyAction {
  if (url === "/closed" || url.startsWith("/src/")) return ProxyAction.shortCircuit(410);
  return url.startsWith("/old/") ? ProxyAction.rewrite(url.slice("/old".length)) : ProxyAction.continue();
}
