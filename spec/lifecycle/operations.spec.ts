/** A subsystem of an application: its host, the telemetry of its operations, and the scope of the request that it reads. */
import {
  Application,
  type Context,
  currentWorkScope,
  Operations,
  provide,
  Route,
  Routes,
  Subsystem,
  type SubsystemHost,
} from "@stagecraft/framework";
import { Metrics } from "@stagecraft/framework/observe";
import { testApp, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { Gate } from "../support/gate.js";
import { until } from "../support/until.js";
import { UnavailableError } from "../../lib/errors/framework-error.js";

class Shelf extends Subsystem {
  readonly kind = "storage";
  override readonly followsRequests: boolean = true;
  host: SubsystemHost | undefined;
  operations: Operations | undefined;

  override prepare(host: SubsystemHost): void {
    this.host = host;
    this.operations = new Operations({ target: "shop::shelf", span: "shop.shelf" }, host);
  }

  start(): void {}
  stop(): void {}

  isAsked = false;

  run<T>(operation: string, work: () => T): T {
    this.isAsked = true;
    if (this.operations === undefined) throw new Error("not prepared");
    return this.operations.run(operation, work);
  }
}

class IndifferentShelf extends Shelf {
  override readonly followsRequests = false;
}

function appOf(shelf: Shelf, handler: (ctx: Context) => unknown) {
  return testApp(
    Application.create()
      .routes(new Routes([Route.get("/", handler)]))
      .provide(provide(Shelf).useValue(shelf))
      .requestId()
      .accessLog(),
  );
}

describe("a subsystem that is prepared", () => {
  it("has the name, the clock and the metrics of its application before it starts", async () => {
    const shelf = new Shelf();
    await using app = await appOf(shelf, () => "");

    expect(shelf.host?.name).to.equal("storage");
    expect(shelf.host?.metrics).to.equal(app.resolve(Metrics));
  });

  it("reads the signal of the request that it works for, and none outside requests", async () => {
    const seen: unknown[] = [];
    await using app = await appOf(new Shelf(), async (ctx) => {
      await Promise.resolve();
      seen.push(currentWorkScope()?.signal === ctx.signal);
      return "";
    });

    await app.get("/");

    expect([seen, currentWorkScope()]).to.deep.equal([[true], undefined]);
  });

  it("has no scope where no subsystem follows requests", async () => {
    const seen: unknown[] = [];
    await using app = await appOf(new IndifferentShelf(), () => {
      seen.push(currentWorkScope());
      return "";
    });

    await app.get("/");

    expect(seen).to.deep.equal([undefined]);
  });
});

describe("the operations of a subsystem", () => {
  const failures: readonly (readonly [string, () => unknown, string])[] = [
    ["returns", () => "parcel", "ok"],
    ["resolves", () => Promise.resolve("parcel"), "ok"],
    ["throws", () => fail(new UnavailableError("parcel lost", { code: "E_SHELF" })), "error"],
    ["rejects", () => Promise.reject(new Error("parcel lost")), "error"],
    ["is aborted", () => Promise.reject(new DOMException("parcel lost", "AbortError")), "aborted"],
  ];
  for (const [what, work, outcome] of failures) {
    it(`report work that ${what} as ${outcome}: a duration, a span, a DEBUG event of the request, and no value`, async () => {
      const shelf = new Shelf();
      await using app = await appOf(shelf, async () => {
        try {
          return await shelf.run("take", work);
        } catch {
          return "failed";
        }
      });

      const response = await app.get("/");

      expect(await response.text()).to.equal(outcome === "ok" ? "parcel" : "failed");
      expect(app.resolve(Metrics).render()).to.include(
        `framework_subsystem_operation_duration_seconds_count{operation="take",outcome="${outcome}",subsystem="storage"} 1`,
      );
      const event = eventOf(app);
      expect(event).to.include('"level":"DEBUG"').and.to.include(`"operation":"take","outcome":"${outcome}"`);
      expect(event).to.include(response.headers.get("x-request-id"));
      expect(app.logs.lines().join()).not.to.include("parcel");
    });
  }

  it("report the reason of the request's signal as aborted", async () => {
    const shelf = new Shelf();
    const left = new Gate();
    await using app = await appOf(shelf, async (ctx) => {
      const untilAborted = new Promise((_resolve, reject) => {
        ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason as Error));
      });
      await shelf.run("take", () => untilAborted).catch(() => left.open());
      return "";
    });

    const controller = new AbortController();
    const request = app.request("/", { signal: controller.signal }).catch(() => undefined);
    await until(() => shelf.isAsked);
    controller.abort();
    await Promise.all([request, left.passed]);

    expect(eventOf(app)).to.include('"outcome":"aborted"');
  });

  it("name the code of a failure", async () => {
    const shelf = new Shelf();
    await using app = await appOf(shelf, () => {
      try {
        return shelf.run("take", () => fail(new UnavailableError("no", { code: "E_SHELF" })));
      } catch {
        return "failed";
      }
    });

    await app.get("/");

    expect(eventOf(app)).to.include('"code":"E_SHELF"');
  });
});

function eventOf(app: TestApp): string | undefined {
  return app.logs.lines().find((line) => line.includes('"target":"shop::shelf"'));
}

function fail(error: Error): never {
  throw error;
}
