import { once } from "node:events";
import http from "node:http";
import net from "node:net";
import { expect } from "chai";
import {
  AppConfig,
  Application,
  type ApplicationBuilder,
  Cache,
  Clock,
  Controller,
  Get,
  Injectable,
  Maintenance,
  Module,
  provide,
  RateLimit,
  Readiness,
  Route,
  RouteGroup,
  Routes,
  STAGES,
  Subsystem,
  SystemClock,
  type Running,
} from "@stagecraft/framework";
import { RedisCache } from "@stagecraft/framework/cache/redis";
import { Metrics } from "@stagecraft/framework/observe";
import { testApp } from "@stagecraft/framework/testing";
import { Gate } from "../support/gate.js";
import { listening } from "../support/listening.js";
import { ScriptedCache } from "../support/scripted-cache.js";
import { startupErrorOf } from "../support/startup-error-of.js";

const PROMPT = { drainDelayMs: 0, drainDeadlineMs: 500 };

@Injectable()
class Counter {
  value = 0;
}

@Controller("/")
class CountController {
  constructor(private readonly counter: Counter) {}

  @Get("/count", "count")
  count() {
    this.counter.value += 1;
    return this.counter.value;
  }
}

@Module({ controllers: [CountController], providers: [Counter] })
class CountModule {}

@Injectable()
class Starting extends Subsystem {
  readonly kind = "database";
  starts = 0;

  start(): void {
    this.starts += 1;
  }

  stop(): void {}

  override probe(): void {}
}

function describeOnce(): string {
  return JSON.stringify(Application.create(CountModule).build().graph());
}

function nothing(): void {}

function active(): number {
  return process.getActiveResourcesInfo().length;
}

describe("Application", () => {
  describe("served on a listener that exists", () => {
    const servers: readonly (readonly [string, () => net.Server])[] = [
      ["a net.Server", () => net.createServer()],
      ["an http.Server", () => http.createServer()],
    ];
    for (const [what, make] of servers) {
      it(`serves on ${what}, says where, and stops`, async () => {
        const { server } = await listening(make());
        const running: Running = await Application.create(CountModule).lifecycle(PROMPT).build().serve(server);

        const answer = await fetch(`${running.url}/count`);
        const ready = await fetch(`${running.url}/up/ready`);
        await Promise.all([running.stop(), running.stop()]);

        expect(await answer.text()).to.equal("1");
        expect([ready.status, await ready.json()]).to.deep.equal([200, { state: "ready", ready: true }]);
        expect(server.listening).to.equal(false);
      });
    }

    it("refuses an http.Server that has a request listener already", async () => {
      using taken = await listening(http.createServer(() => {}));

      const refusal = await Application.create()
        .build()
        .serve(taken.server)
        .catch((error: unknown) => error);

      expect(refusal).to.include({ code: "E_SERVER_TAKEN" });
    });

    it("serves on a socket path, where there is no client address", async () => {
      const path = `/tmp/stagecraft-${process.pid}-${Date.now()}.sock`;
      const server = net.createServer().listen(path);
      await once(server, "listening");
      const routes = new Routes([Route.get("/", (ctx) => ({ ip: ctx.ip, ips: ctx.ips }))]);
      const running = await Application.create().lifecycle(PROMPT).routes(routes).build().serve(server);

      const request = http.get({ socketPath: path, path: "/", agent: false });
      const [response] = (await once(request, "response")) as [http.IncomingMessage];
      const body = await response.setEncoding("utf8").reduce((text: string, piece: string) => text + piece, "");
      await running.stop();

      expect(running.url).to.equal(path);
      expect(JSON.parse(body)).to.deep.equal({ ip: "", ips: [] });
    });
  });

  it("shares nothing with another application of the same modules", async () => {
    const one = Application.create(CountModule).lifecycle(PROMPT).build();
    const other = Application.create(CountModule).lifecycle(PROMPT).build();

    one.resolve(Counter).value = 41;

    expect(other.resolve(Counter).value).to.equal(0);
    expect(one.resolve(Metrics)).not.to.equal(other.resolve(Metrics));
    expect(one.resolve(Readiness)).not.to.equal(other.resolve(Readiness));
  });

  it("starts a subsystem that two modules list once", async () => {
    @Module({ providers: [Starting] })
    class Other {}
    @Module({ imports: [Other], providers: [Starting] })
    class Root {}

    await using app = await testApp(Root);

    expect(app.resolve(Starting).starts).to.equal(1);
    expect(await (await app.get("/up/ready")).json()).to.deep.include({ checks: { database: { status: "up" } } });
  });

  it("lets go of what it made when it stops, the last first, after the last request", async () => {
    const told: string[] = [];
    @Injectable()
    class First {
      dispose(): void {
        told.push("first");
      }
    }
    @Injectable()
    class Second {
      constructor(readonly first: First) {}
      async [Symbol.asyncDispose](): Promise<void> {
        await Promise.resolve();
        told.push("second");
      }
    }
    @Module({ providers: [Second, First] })
    class Root {}
    const [begun, goOn] = [new Gate(), new Gate()];
    const routes = new Routes([
      Route.get("/", async () => {
        begun.open();
        await goOn.passed;
        told.push("answered");
        return "";
      }),
    ]);
    const app = await testApp(Application.create(Root).routes(routes));

    const asking = app.get("/");
    await begun.passed;
    const stopping = app.stop();
    goOn.open();
    await Promise.all([asking, stopping]);

    expect(told).to.deep.equal(["answered", "second", "first"]);
  });

  it("leaves the health endpoints away where they are switched off, and their paths to the routes", async () => {
    const routes = new Routes([Route.get("/up/live", () => "of a route")]);
    await using app = await testApp(Application.create().routes(routes).healthPrefix("/up").health(false));

    const answers = [await app.get("/up/live"), await app.get("/up/ready"), await app.get("/up")];

    expect(answers.map(({ status }) => status)).to.deep.equal([200, 404, 404]);
    expect(app.application.pipeline().find(({ slot }) => slot === "health")?.on).to.equal(false);
  });

  const limited: readonly (readonly [string, (limit: RateLimit) => ApplicationBuilder])[] = [
    ["as a stage", (limit) => Application.create().rateLimit(limit)],
    ["as a layer", (limit) => Application.create().layer(limit)],
    ["on a route", (limit) => Application.create().routes(new Routes([Route.get("/", nothing).middleware(limit)]))],
  ];
  for (const [where, build] of limited) {
    it(`starts, probes and stops the cache that a rate limit ${where} keeps its buckets in, also where nothing provides it`, async () => {
      const cache = new ScriptedCache();
      const app = await testApp(build(RateLimit.perHour(10).redis(cache)));

      const ready: unknown = await (await app.get("/up/ready")).json();
      await app.stop();

      expect(ready).to.deep.include({ ready: true, checks: { cache: { status: "up" } } });
      expect(cache.seen).to.deep.equal(["start", "probe", "stop"]);
    });
  }

  it("starts such a cache once, however many limits and bindings have it", async () => {
    const cache = new ScriptedCache();
    const limits = [RateLimit.perHour(10).redis(cache), RateLimit.perHour(20).redis(cache, "other")];
    const app = await testApp(
      Application.create()
        .provide(provide(Cache).useValue(cache))
        .layer(...limits),
    );

    await app.stop();

    expect(cache.seen).to.deep.equal(["start", "stop"]);
  });

  it("gives the container the handles that its stages were given, unless something else is provided", () => {
    const [metrics, maintenance, other] = [new Metrics(), new Maintenance(), new Maintenance()];
    const told = (builder: ApplicationBuilder) => builder.metrics(metrics).maintenance(maintenance);

    const plain = told(Application.create()).build();
    const first = told(Application.create().provide(provide(Maintenance).useValue(other))).build();
    const last = told(Application.create()).provide(provide(Maintenance).useValue(other)).build();

    expect([plain.resolve(Metrics), plain.resolve(Maintenance)]).to.deep.equal([metrics, maintenance]);
    expect([first.resolve(Maintenance) === other, last.resolve(Maintenance) === other]).to.deep.equal([true, true]);
  });

  it("provides a clock, a configuration and a registry where the application does not", () => {
    const config = new AppConfig({ name: "shop" });

    const plain = Application.create().build();
    const told = Application.create().config(config).provide(provide(Clock).useValue(new SystemClock())).build();

    expect(plain.config().name).to.equal("app");
    expect(told.config()).to.equal(config);
    expect(told.resolve(AppConfig)).to.equal(config);
  });

  it("prints its stages in the order of the table, and which of them are on", () => {
    const rows = Application.create().metrics().requestId().catchPanic().build().pipeline();

    expect(rows.map(({ slot }) => slot)).to.deep.equal(STAGES.map(({ slot }) => slot));
    expect(rows.filter(({ on }) => on).map(({ slot }) => slot)).to.deep.equal([
      "health",
      "requestId",
      "metrics",
      "catchPanic",
      "redirectMapper",
      "router",
    ]);
  });

  it("describes modules, routes and stages as the same data every time", () => {
    const graph = JSON.parse(describeOnce()) as { modules: { name: string }[]; routes: unknown[] };

    expect(describeOnce()).to.equal(describeOnce());
    expect(graph.modules[0]).to.deep.include({ name: "CountModule", controllers: ["CountController"] });
    expect(graph.routes).to.deep.equal([
      {
        module: "CountModule",
        method: "GET",
        path: "/count",
        name: "count",
        handler: "CountController.count",
        params: [],
        pages: [],
        middleware: [],
      },
    ]);
  });

  it("leaves process and globals alone", () => {
    const before = [process.eventNames().length, Object.keys(globalThis).length, process.listenerCount("SIGTERM")];

    Application.create(CountModule).requestId().accessLog().metrics().build();

    expect([
      process.eventNames().length,
      Object.keys(globalThis).length,
      process.listenerCount("SIGTERM"),
    ]).to.deep.equal(before);
  });
});

describe("build()", () => {
  it("lists every fault at once, each with code, place and fix", () => {
    abstract class Missing {}

    @Injectable()
    class NeedsMissing {
      constructor(readonly missing: Missing) {}
    }

    @Controller("/")
    class Broken {
      constructor(readonly needs: NeedsMissing) {}

      @Get("/twice", "same")
      first() {}

      @Get("/twice", "same")
      second() {}

      @Get("/up/live")
      health() {}
    }

    @Module({ controllers: [Broken], providers: [NeedsMissing] })
    class BrokenModule {}

    const builder = Application.create(BrokenModule)
      .port(70_000)
      .healthPrefix("/up")
      .trustedProxies("10.0.0.0/99")
      .lifecycle({ drainDelayMs: -1 })
      .config(new AppConfig({ url: "ftp://x" }))
      .requestId()
      .requestId()
      .cors({ origins: "*", credentials: true });
    const findings = startupErrorOf(() => builder.build()).diagnostics;

    expect(findings.map(({ code }) => code).toSorted()).to.include.members([
      "E_APP_URL",
      "E_CORS_WILDCARD",
      "E_LIFECYCLE_OPTION",
      "E_PORT",
      "E_PROVIDER_MISSING",
      "E_ROUTE_DUPLICATE",
      "E_ROUTE_HEALTH",
      "E_ROUTE_NAME_REPEATED",
      "E_STAGE_TWICE",
      "E_TRUSTED_PROXIES",
    ]);
    for (const { what, where, fix } of findings) expect([what, where, fix].every((text) => text !== "")).to.equal(true);
  });

  for (const [where, listed] of [
    ["two modules", [CountController]],
    ["one module", [CountController, CountController]],
  ] as const) {
    it(`tells once of a controller that is listed twice in ${where}, whatever its routes`, () => {
      @Module({ imports: where === "two modules" ? [CountModule] : [], controllers: listed, providers: [Counter] })
      class ShopModule {}

      const findings = startupErrorOf(() => Application.create(ShopModule).build()).diagnostics;

      const modules = where === "two modules" ? "CountModule and ShopModule" : "ShopModule";
      expect(findings).to.deep.equal([
        {
          code: "E_CONTROLLER_REPEATED",
          what: `CountController is listed 2 times as a controller, in ${modules}`,
          where: `controllers of ${modules}`,
          fix: "list it in one module; its routes exist once",
        },
      ]);
    });
  }

  it("tells of rate limits that would share their buckets in a cache, wherever they stand", () => {
    const cache = new RedisCache();
    const hourly = RateLimit.perHour(10).redis(cache);
    const group = new RouteGroup("/session", [Route.post("/", nothing), Route.delete("/", nothing)]);
    const builder = Application.create()
      .rateLimit(RateLimit.perSecond(50).burst(100).redis(cache))
      .layer(RateLimit.perMinute(1).redis(cache, "other"), RateLimit.perMinute(1).redis(cache, "other"))
      .routes(new Routes([group.middleware(hourly), Route.get("/", nothing).middleware(hourly)]));

    const findings = startupErrorOf(() => builder.build()).diagnostics;

    const fix = `give one of them a name of its own: .redis(cache, "login"); or use one handle in both places`;
    const share = "share the buckets of one cache";
    expect(findings).to.deep.equal([
      {
        code: "E_RATE_LIMIT_SHARED",
        what: `a rate limit of 1 per minute and one of 1 per minute ${share} under the name "other"`,
        where: ".layer(…)",
        fix,
      },
      {
        code: "E_RATE_LIMIT_SHARED",
        what: `a rate limit of 50 per second in bursts of 100 and one of 10 per hour ${share}`,
        where: "middleware of POST /session",
        fix,
      },
    ]);
  });

  it("leaves each rate limit its buckets: one handle in several places, two with names, two on two caches, one in two applications", () => {
    const [cache, other] = [new RedisCache(), new RedisCache({ name: "other" })];
    const hourly = RateLimit.perHour(10).redis(cache);
    const limits = [hourly, RateLimit.perHour(10).redis(cache, "named"), RateLimit.perHour(10).redis(other)];
    const routes = new Routes([Route.get("/", nothing).middleware(...limits)]);

    expect(() => Application.create().rateLimit(hourly).layer(hourly).routes(routes).build()).not.to.throw();
    expect(() => Application.create().rateLimit(RateLimit.perHour(5).redis(cache)).build()).not.to.throw();
  });

  it("makes no instance where anything is wrong", () => {
    let made = 0;

    @Injectable()
    class Eager {
      constructor() {
        made += 1;
      }
    }

    @Module({ providers: [Eager] })
    class EagerModule {}

    startupErrorOf(() => Application.create(EagerModule).port(-1).build());

    expect(made).to.equal(0);
  });

  it("reports what a stage refuses to be made of, under the name of its call", () => {
    const findings = startupErrorOf(() =>
      Application.create().cors({ origins: "*", credentials: true }).build(),
    ).diagnostics;

    expect(findings).to.have.length(1);
    expect(findings[0]?.where).to.equal(".cors(…)");
  });

  it("starts no timer and opens no socket", () => {
    const before = active();

    Application.create(CountModule)
      .requestId()
      .traceContext()
      .accessLog()
      .metrics()
      .catchPanic()
      .errorMapping()
      .build();

    expect(active()).to.equal(before);
  });
});
