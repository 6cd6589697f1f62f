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
  Routes,
  STAGES,
  Subsystem,
  SystemClock,
  type RunningApplication,
} from "@stagecraft/framework";
import { Metrics } from "@stagecraft/framework/observe";
import { testApp } from "@stagecraft/framework/testing";
import { Gate } from "../support/gate.js";
import { listening } from "../support/listening.js";
import { ScriptedCache } from "../support/scripted-cache.js";

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

function noop(): void {}

describe("Application", () => {
  describe("on a listener of the caller", () => {
    const servers: readonly (readonly [string, () => net.Server])[] = [
      ["a net.Server", () => net.createServer()],
      ["an http.Server", () => http.createServer()],
    ];
    for (const [what, make] of servers) {
      it(`serves on ${what}, reports its address, and stops`, async () => {
        const { server } = await listening(make());
        const running: RunningApplication = await Application.create(CountModule)
          .lifecycle(PROMPT)
          .build()
          .serve(server);

        const response = await fetch(`${running.url}/count`);
        const ready = await fetch(`${running.url}/up/ready`);
        await Promise.all([running.stop(), running.stop()]);

        expect(await response.text()).to.equal("1");
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

    it("serves on a socket path, with an empty client address", async () => {
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

  it("shares no instance with another application of the same modules", async () => {
    const one = Application.create(CountModule).lifecycle(PROMPT).build();
    const other = Application.create(CountModule).lifecycle(PROMPT).build();

    one.resolve(Counter).value = 41;

    expect(other.resolve(Counter).value).to.equal(0);
    expect(one.resolve(Metrics)).not.to.equal(other.resolve(Metrics));
    expect(one.resolve(Readiness)).not.to.equal(other.resolve(Readiness));
  });

  it("starts a subsystem once if two modules list it", async () => {
    @Module({ providers: [Starting] })
    class Other {}
    @Module({ imports: [Other], providers: [Starting] })
    class Root {}

    await using app = await testApp(Root);

    expect(app.resolve(Starting).starts).to.equal(1);
    expect(await (await app.get("/up/ready")).json()).to.deep.include({ checks: { database: { status: "up" } } });
  });

  it("takes a class of .provide() as a module does", async () => {
    let started = 0;

    @Injectable()
    class SlowBoot extends Subsystem {
      readonly kind = "jobs";

      constructor(readonly clock: Clock) {
        super();
      }

      start(): void {
        started += 1;
      }

      stop(): void {}
    }

    await using app = await testApp(Application.create().provide(SlowBoot));

    expect(app.resolve(SlowBoot).clock).to.equal(app.resolve(Clock));
    expect(started).to.equal(1);
  });

  const urls: readonly (readonly [what: string, config: AppConfig, absolute: (port: number) => string])[] = [
    ["of its listener where no URL is configured", new AppConfig(), (port) => `http://localhost:${port}/links`],
    ["of the configured URL", new AppConfig({ url: "http://localhost:3000" }), () => "http://localhost:3000/links"],
  ];
  for (const [what, config, absolute] of urls) {
    it(`makes absolute URLs with the port ${what}, from the start of its subsystems on`, async () => {
      let atStart = "";

      @Injectable()
      class Mailer extends Subsystem {
        readonly kind = "mail";

        constructor(private readonly settings: AppConfig) {
          super();
        }

        start(): void {
          atStart = this.settings.absoluteUrl("/links");
        }

        stop(): void {}
      }

      await using app = await testApp(Application.create().config(config).provide(Mailer));

      expect(atStart).to.equal(absolute(Number(new URL(app.url).port)));
    });
  }

  it("disposes of its instances in reverse order when it stops, after the last request", async () => {
    const events: string[] = [];
    @Injectable()
    class First {
      dispose(): void {
        events.push("first");
      }
    }
    @Injectable()
    class Second {
      constructor(readonly first: First) {}
      async [Symbol.asyncDispose](): Promise<void> {
        await Promise.resolve();
        events.push("second");
      }
    }
    @Module({ providers: [Second, First] })
    class Root {}
    const [started, goOn] = [new Gate(), new Gate()];
    const routes = new Routes([
      Route.get("/", async () => {
        started.open();
        await goOn.passed;
        events.push("responded");
        return "";
      }),
    ]);
    await using app = await testApp(Application.create(Root).routes(routes));

    const asking = app.get("/");
    await started.passed;
    const stopping = app.stop();
    goOn.open();
    await Promise.all([asking, stopping]);

    expect(events).to.deep.equal(["responded", "second", "first"]);
  });

  it("leaves the health paths to the routes if health is off", async () => {
    const routes = new Routes([Route.get("/up/live", () => "of a route")]);
    await using app = await testApp(Application.create().routes(routes).healthPrefix("/up").health(false));

    const responses = [await app.get("/up/live"), await app.get("/up/ready"), await app.get("/up")];

    expect(responses.map(({ status }) => status)).to.deep.equal([200, 404, 404]);
    expect(app.application.pipeline().find(({ slot }) => slot === "health")?.on).to.equal(false);
  });

  const limited: readonly (readonly [string, (limit: RateLimit) => ApplicationBuilder])[] = [
    ["as a stage", (limit) => Application.create().rateLimit(limit)],
    ["as a layer", (limit) => Application.create().layer(limit)],
    ["on a route", (limit) => Application.create().routes(new Routes([Route.get("/", noop).middleware(limit)]))],
  ];
  for (const [where, build] of limited) {
    it(`starts, probes and stops the cache of a rate limit ${where}, also if no module provides it`, async () => {
      const cache = new ScriptedCache();
      await using app = await testApp(build(RateLimit.perHour(10).redis(cache)));

      const ready: unknown = await (await app.get("/up/ready")).json();
      await app.stop();

      expect(ready).to.deep.include({ ready: true, checks: { cache: { status: "up" } } });
      expect(cache.seen).to.deep.equal(["start", "probe", "stop"]);
    });
  }

  it("starts the cache of several rate limits once", async () => {
    const cache = new ScriptedCache();
    const limits = [RateLimit.perHour(10).redis(cache), RateLimit.perHour(20).redis(cache, "other")];
    await using app = await testApp(
      Application.create()
        .provide(provide(Cache).useValue(cache))
        .layer(...limits),
    );

    await app.stop();

    expect(cache.seen).to.deep.equal(["start", "stop"]);
  });

  it("binds the handles of its stages in the container, unless another binding exists", () => {
    const [metrics, maintenance, other] = [new Metrics(), new Maintenance(), new Maintenance()];
    const withHandles = (builder: ApplicationBuilder) => builder.metrics(metrics).maintenance(maintenance);

    const plain = withHandles(Application.create()).build();
    const first = withHandles(Application.create().provide(provide(Maintenance).useValue(other))).build();
    const last = withHandles(Application.create()).provide(provide(Maintenance).useValue(other)).build();

    expect([plain.resolve(Metrics), plain.resolve(Maintenance)]).to.deep.equal([metrics, maintenance]);
    expect([first.resolve(Maintenance) === other, last.resolve(Maintenance) === other]).to.deep.equal([true, true]);
  });

  it("provides a clock, a configuration and a metrics registry by default", () => {
    const config = new AppConfig({ name: "shop" });

    const plain = Application.create().build();
    const configured = Application.create().config(config).provide(provide(Clock).useValue(new SystemClock())).build();

    expect(plain.config().name).to.equal("app");
    expect(configured.config()).to.equal(config);
    expect(configured.resolve(AppConfig)).to.equal(config);
  });

  it("lists its stages in the order of the table, and says of each whether it is on", () => {
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
        action: "CountController.count",
        handler: "CountController.count",
        params: [],
        pages: [],
        guards: [],
        middleware: [],
        policies: [],
      },
    ]);
  });

  it("changes neither the process nor the globals", () => {
    const before = [process.eventNames().length, Object.keys(globalThis).length, process.listenerCount("SIGTERM")];

    Application.create(CountModule).requestId().accessLog().metrics().build();

    expect([
      process.eventNames().length,
      Object.keys(globalThis).length,
      process.listenerCount("SIGTERM"),
    ]).to.deep.equal(before);
  });
});
