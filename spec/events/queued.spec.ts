/** Listeners with `queued`: their calls are jobs, in memory and in a database, also after the end of the process that emitted. */
import {
  Application,
  Clock,
  Controller,
  event,
  Events,
  Injectable,
  Module,
  On,
  Post,
  provide,
  Route,
  Routes,
  SystemClock,
} from "@stagecraft/framework";
import { Database } from "@stagecraft/framework/db";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { Handles, job, Jobs, jobsMigrations, type JobsOptions, MemoryJobs } from "@stagecraft/framework/jobs";
import { RequestId, TraceContext } from "@stagecraft/framework/observe";
import { expectNoLeak, FakeClock, type LogLine, testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { z } from "zod";
import { currentWorkScope } from "../../lib/lifecycle/work-scope.js";
import { JobContext } from "../../lib/jobs/job-context.js";
import { temporaryFolder } from "../db/shop-database.js";
import { rejectionOf } from "../support/rejection-of.js";
import { startupErrorOf } from "../support/startup-error-of.js";
import { until } from "../support/until.js";

const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

const CANARY = "canary4711event";

const placed = event("order.placed", z.object({ id: z.number(), at: z.coerce.date() }));
const swept = event("stock.swept");

class ShopDatabase extends Database<Record<string, never>> {}

@Injectable()
class Newsletter {
  readonly heard: unknown[] = [];
  fails = 0;
  seen: (scope: JobContext) => void = () => {};

  @On(placed, { queued: true })
  async tell(payload: { readonly id: number; readonly at: Date }): Promise<void> {
    const scope = currentWorkScope();
    if (scope instanceof JobContext) this.seen(scope);
    if (this.fails-- > 0) throw new Error("no server");
    this.heard.push(payload);
  }

  @On(swept, { queued: true })
  count(): void {
    this.heard.push("swept");
  }
}

@Controller("/orders")
class Orders {
  constructor(private readonly events: Events) {}

  @Post("/")
  async place(): Promise<string> {
    await this.events.emit(placed, { id: 7, at: new Date(1000) });
    return "placed";
  }
}

const inDatabase = (file: string) =>
  provide(ShopDatabase).useFactory(
    () => new ShopDatabase(sqlite(file), { migrations: [jobsMigrations], migrate: true }),
  );

/** An application whose jobs wait in the store, and in the database unless a store is given. */
function shopWith(options: JobsOptions, file = ":memory:", clock: Clock = new SystemClock()) {
  @Module({
    controllers: [Orders],
    providers: [Newsletter, inDatabase(file), provide(Jobs).useFactory(() => new Jobs(options))],
  })
  class Shop {}
  return testApp(Application.create(Shop).requestId().traceContext().accessLog(), provide(Clock).useValue(clock));
}

const PLACED = [{ id: 7, at: new Date(1000) }];

const STORES: readonly (readonly [string, (clock: Clock) => JobsOptions])[] = [
  ["in memory", (clock) => ({ store: new MemoryJobs({ clock }) })],
  ["in SQLite", () => ({})],
];

for (const [where, optionsFor] of STORES)
  describe(`a queued listener whose jobs wait ${where}`, () => {
    const options = optionsFor(new SystemClock());

    it("gets the payload that the schema returns, in a job with the ids of the request", async () => {
      await using app = await shopWith(options);
      const newsletter = app.resolve(Newsletter);
      const ids: unknown[] = [];
      newsletter.seen = (scope) => ids.push(scope.name, RequestId.of(scope)?.value, TraceContext.of(scope)?.traceId);

      await app.post("/orders", { headers: { "x-request-id": "order-7", traceparent: TRACEPARENT } });
      await until(() => newsletter.heard.length > 0);

      expect(newsletter.heard).to.deep.equal(PLACED);
      expect(ids).to.deep.equal(["on.order.placed.Newsletter.tell", "order-7", TRACEPARENT.slice(3, 35)]);
    });

    it("exists only if the transaction of the emitter commits", async () => {
      await using app = await shopWith({ ...optionsFor(new SystemClock()), inWebProcess: false });
      const [db, events, jobs] = [app.resolve(ShopDatabase), app.resolve(Events), app.resolve(Jobs)];

      const failed = db.transaction(async () => {
        await events.emit(swept);
        throw new Error("rolled back");
      });
      expect(await rejectionOf(failed)).to.have.property("message", "rolled back");
      expect((await jobs.counts()).waiting).to.equal(0);
      await db.transaction(() => events.emit(swept));

      expect((await jobs.counts()).waiting).to.equal(1);
    });

    it("is logged and retried when it fails", async () => {
      const clock = new FakeClock();
      await using app = await shopWith(optionsFor(clock), ":memory:", clock);
      const newsletter = app.resolve(Newsletter);
      newsletter.fails = 1;

      await app.resolve(Events).emit(placed, { id: 7, at: new Date(1000) });
      await clock.advanceAsync(500);
      expect(newsletter.heard).to.deep.equal([]);
      await clock.advanceAsync(2000);

      expect(newsletter.heard).to.deep.equal(PLACED);
      const [line] = app.logs.lines().filter((text) => text.includes('"job failed"'));
      expect((JSON.parse(line ?? "{}") as LogLine).fields).to.include({
        job: "on.order.placed.Newsletter.tell",
        attempt: 1,
      });
    });

    it("adds no job if the schema refuses the payload, or JSON cannot represent it", async () => {
      const loose = event<{ readonly big: bigint }>("loose");
      class Loose {
        @On(loose, { queued: true }) listen(): void {}
      }
      await using app = await testApp(
        Application.create().provide(Loose, Newsletter, inDatabase(":memory:")),
        provide(Jobs).useFactory(() => new Jobs({ ...optionsFor(new SystemClock()), inWebProcess: false })),
      );
      const events = app.resolve(Events);

      expect(await rejectionOf(events.emit(placed, { id: "x" as never, at: new Date() }))).to.include({ status: 422 });
      expect(await rejectionOf(events.emit(loose, { big: 1n }))).to.include({ code: "E_JOB_PAYLOAD" });
      expect((await app.resolve(Jobs).counts()).waiting).to.equal(0);
    });
  });

describe("a queued listener", () => {
  it("gets an event of a process that has ended, in the next process", async () => {
    await using folder = await temporaryFolder();
    const file = folder.file("shop.db");
    {
      await using first = await shopWith({ inWebProcess: false }, file);
      await first.post("/orders");
    }
    await using second = await shopWith({}, file);
    const { heard } = second.resolve(Newsletter);
    await until(() => heard.length > 0);

    expect(heard).to.deep.equal(PLACED);
  });

  it("works in a span of its own inside that of its job", async () => {
    await using app = await shopWith({});
    await app.resolve(Events).emit(swept);
    await until(() => app.resolve(Newsletter).heard.length > 0);

    const span = app.captured.spans.texts().find((text) => text.includes("framework.event.listener"));
    expect(span).to.include("Newsletter.count");
  });

  it("does not leak its payload, also when it fails, and neither does a listener that runs at once", async () => {
    const noted = event<{ readonly note: string }>("noted");
    class Notes {
      calls = 0;
      @On(noted, { queued: true })
      @On(noted)
      fail(): void {
        this.calls++;
        throw new Error("no paper");
      }
    }
    await using app = await testApp(
      Application.create()
        .provide(Notes, inDatabase(":memory:"), Jobs)
        .routes(new Routes([Route.get("/", () => "")]))
        .requestId()
        .accessLog()
        .metrics(),
    );
    await app.resolve(Events).emit(noted, { note: CANARY });
    await until(() => app.logs.lines().some((line) => line.includes('"job failed"')));

    expect(app.resolve(Notes).calls).to.equal(2);
    await expectNoLeak(app, CANARY);
  });

  it("is named by build() where no Jobs is provided, with every other one", () => {
    const { diagnostics } = startupErrorOf(() => Application.create().provide(Newsletter).build());
    expect(diagnostics.map(({ code, where }) => `${code} ${where}`)).to.deep.equal([
      "E_EVENT_QUEUE Newsletter.tell",
      "E_EVENT_QUEUE Newsletter.count",
    ]);
    expect(diagnostics[0]?.what).to.equal(
      "Newsletter.tell listens to order.placed with { queued: true }, and no Jobs is provided",
    );
  });

  it("is refused by build() where another method handles a job of its name, or no job can have the name", () => {
    class Other {
      @Handles(job("on.stock.swept.Newsletter.count")) count(): void {}
    }
    const $Odd = class $Odd {
      listen(): void {}
    };
    On(swept, { queued: true })($Odd.prototype, "listen", {} as never);
    const store = provide(Jobs).useFactory(() => new Jobs({ store: new MemoryJobs() }));

    const twice = startupErrorOf(() => Application.create().provide(Newsletter, Other, store).build());
    expect(twice.diagnostics[0]).to.include({
      code: "E_JOB_HANDLED_TWICE",
      where: "Other.count and Newsletter.count",
    });
    expect(() => Application.create().provide($Odd, store).build())
      .to.throw("on.stock.swept.$Odd.listen")
      .with.property("code", "E_JOB_NAME");
  });
});
