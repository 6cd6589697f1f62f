import { expect } from "chai";
import {
  AppConfig,
  Application,
  Controller,
  Get,
  Injectable,
  Module,
  RateLimit,
  Route,
  RouteGroup,
  Routes,
} from "@stagecraft/framework";
import { RedisCache } from "@stagecraft/framework/cache/redis";
import { startupErrorOf } from "../support/startup-error-of.js";

@Controller("/")
class CountController {
  @Get("/count")
  count() {
    return 1;
  }
}

@Module({ controllers: [CountController] })
class CountModule {}

function noop(): void {}

function active(): number {
  return process.getActiveResourcesInfo().length;
}

describe("build()", () => {
  it("reports every fault at once, each with code, place and fix", () => {
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
    const diagnostics = startupErrorOf(() => builder.build()).diagnostics;

    expect(diagnostics.map(({ code }) => code).toSorted()).to.include.members([
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
    for (const { what, where, fix } of diagnostics)
      expect([what, where, fix].every((text) => text !== "")).to.equal(true);
  });

  for (const [where, listed] of [
    ["two modules", [CountController]],
    ["one module", [CountController, CountController]],
  ] as const) {
    it(`reports a controller that is listed twice in ${where} once, not once for each route`, () => {
      @Module({ imports: where === "two modules" ? [CountModule] : [], controllers: listed })
      class ShopModule {}

      const diagnostics = startupErrorOf(() => Application.create(ShopModule).build()).diagnostics;

      const modules = where === "two modules" ? "CountModule and ShopModule" : "ShopModule";
      expect(diagnostics).to.deep.equal([
        {
          code: "E_CONTROLLER_REPEATED",
          what: `CountController is listed 2 times as a controller, in ${modules}`,
          where: `controllers of ${modules}`,
          fix: "list it in one module; its routes exist once",
        },
      ]);
    });
  }

  it("refuses rate limits that share buckets in a cache, as stage, layer or middleware", () => {
    const cache = new RedisCache();
    const hourly = RateLimit.perHour(10).redis(cache);
    const group = new RouteGroup("/session", [Route.post("/", noop), Route.delete("/", noop)]);
    const builder = Application.create()
      .rateLimit(RateLimit.perSecond(50).burst(100).redis(cache))
      .layer(RateLimit.perMinute(1).redis(cache, "other"), RateLimit.perMinute(1).redis(cache, "other"))
      .routes(new Routes([group.middleware(hourly), Route.get("/", noop).middleware(hourly)]));

    const diagnostics = startupErrorOf(() => builder.build()).diagnostics;

    const fix = `give one of them a separate name: .redis(cache, "login"); or use one handle in both places`;
    const share = "share the buckets of one cache";
    expect(diagnostics).to.deep.equal([
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

  it("accepts rate limits with separate buckets: one handle in several places, two names, two caches, two applications", () => {
    const [cache, other] = [new RedisCache(), new RedisCache({ name: "other" })];
    const hourly = RateLimit.perHour(10).redis(cache);
    const limits = [hourly, RateLimit.perHour(10).redis(cache, "named"), RateLimit.perHour(10).redis(other)];
    const routes = new Routes([Route.get("/", noop).middleware(...limits)]);

    expect(() => Application.create().rateLimit(hourly).layer(hourly).routes(routes).build()).not.to.throw();
    expect(() => Application.create().rateLimit(RateLimit.perHour(5).redis(cache)).build()).not.to.throw();
  });

  it("creates no instance if there is a fault", () => {
    let created = 0;

    @Injectable()
    class Eager {
      constructor() {
        created += 1;
      }
    }

    @Module({ providers: [Eager] })
    class EagerModule {}

    startupErrorOf(() => Application.create(EagerModule).port(-1).build());

    expect(created).to.equal(0);
  });

  it("reports the error of a stage with the name of its builder call", () => {
    const diagnostics = startupErrorOf(() =>
      Application.create().cors({ origins: "*", credentials: true }).build(),
    ).diagnostics;

    expect(diagnostics).to.have.length(1);
    expect(diagnostics[0]?.where).to.equal(".cors(…)");
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
