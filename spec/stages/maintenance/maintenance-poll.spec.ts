/** A `Maintenance` with a store: all applications on the store follow it, each second of their clock. */
import { Application, Clock, Maintenance, provide, Route, Routes } from "@stagecraft/framework";
import { type MaintenanceState, MaintenanceStore } from "@stagecraft/framework/maintenance";
import { FakeClock, testApp, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { FrameworkError } from "../../../lib/errors/framework-error.js";
import { errorOf } from "../../support/error-of.js";
import { Gate } from "../../support/gate.js";

class RecordedStore extends MaintenanceStore {
  readonly name = "the recorded store";
  state: MaintenanceState | undefined = undefined;
  failure: Error | undefined = undefined;
  /** While it is closed, an access waits. */
  gate: Gate | undefined = undefined;
  readonly accesses: string[] = [];
  private running = 0;
  maxRunning = 0;

  override read(): Promise<MaintenanceState | undefined> {
    const { state } = this;
    return this.access("read", () => state);
  }

  override write(state: MaintenanceState): Promise<void> {
    return this.access(state.isEngaged ? "down" : "up", () => {
      this.state = state;
    });
  }

  private async access<T>(what: string, work: () => T): Promise<T> {
    this.accesses.push(what);
    this.maxRunning = Math.max(this.maxRunning, ++this.running);
    try {
      await this.gate?.passed;
      if (this.failure !== undefined) throw this.failure;
      return work();
    } finally {
      this.running -= 1;
    }
  }
}

const DOWN: MaintenanceState = { isEngaged: true, since: 0, by: "deploy@web-1" };
const UP: MaintenanceState = { ...DOWN, isEngaged: false };

const builderOf = (maintenance?: Maintenance) =>
  Application.create()
    .routes(new Routes([Route.get("/", () => "open")]))
    .maintenance(maintenance);

const startOn = (store: MaintenanceStore, clock: FakeClock, maintenance = new Maintenance()) =>
  testApp(builderOf(maintenance.store(store)), provide(Clock).useValue(clock));

const statusOf = async (app: TestApp) => (await app.get("/")).status;

/** Level, message and error of the events about the store. */
function eventsOf(app: TestApp): readonly string[] {
  const lines = app.logs.lines().map((line): Readonly<Record<string, unknown>> => JSON.parse(line));
  return lines
    .filter(({ target, level }) => target === "framework::http::maintenance" && level !== "DEBUG")
    .map(({ level, message, fields }) => [level, message, Object(fields).error].filter(Boolean).join(" "));
}

describe("the store of a maintenance", () => {
  it("is read before the application is ready", async () => {
    const store = new RecordedStore();
    store.state = DOWN;

    await using app = await startOn(store, new FakeClock());

    expect(await statusOf(app)).to.equal(503);
  });

  it("is followed each second, in both directions, beside the health endpoints", async () => {
    const [store, clock] = [new RecordedStore(), new FakeClock()];
    await using app = await startOn(store, clock);

    const seen = [await statusOf(app)];
    for (const state of [DOWN, UP, DOWN, undefined]) {
      store.state = state;
      seen.push(await statusOf(app));
      await clock.advanceAsync(1000);
      seen.push(await statusOf(app));
    }
    store.state = DOWN;
    await clock.advanceAsync(1000);

    expect(seen).to.deep.equal([200, 200, 503, 503, 200, 200, 503, 503, 200]);
    expect((await app.get("/up/ready")).status).to.equal(200);
  });

  it("may say the Retry-After, which is that of the handle otherwise", async () => {
    const [store, clock] = [new RecordedStore(), new FakeClock()];
    store.state = { ...DOWN, retryAfter: 7 };
    await using app = await startOn(store, clock, new Maintenance().retryAfter(120));

    const given = await app.get("/");
    store.state = DOWN;
    await clock.advanceAsync(1000);
    const without = await app.get("/");

    expect([given, without].map(({ headers }) => headers.get("retry-after"))).to.deep.equal(["7", "120"]);
  });

  it("is followed by the handle that the container creates", async () => {
    const store = new RecordedStore();
    store.state = DOWN;

    await using app = await testApp(
      builderOf().provide(provide(Maintenance).useFactory(() => new Maintenance().store(store))),
    );

    expect(await statusOf(app)).to.equal(503);
  });

  it("overrides the state of a handle that was engaged before the start", async () => {
    await using app = await startOn(new RecordedStore(), new FakeClock(), Maintenance.engaged());

    expect(await statusOf(app)).to.equal(200);
  });

  it("is not read before the start, and leaves no timer after the stop", async () => {
    const [store, clock] = [new RecordedStore(), new FakeClock()];

    builderOf(new Maintenance().store(store)).build();
    const before = store.accesses.length;
    {
      await using app = await startOn(store, clock);
      await statusOf(app);
    }
    const after = store.accesses.length;
    await clock.advanceAsync(5000);

    expect([before, after, store.accesses.length]).to.deep.equal([0, 1, 1]);
    expect(clock.pending).to.equal(0);
  });

  it("is a MaintenanceStore", () => {
    const error = errorOf(() => new Maintenance().store("maintenance.json" as unknown as MaintenanceStore));

    expect(error).to.be.instanceOf(FrameworkError).with.property("code", "E_MAINTENANCE_STORE");
  });
});

describe("a store of a maintenance that is away", () => {
  it("leaves the last known state, with a warning each 10 s, and a word when it is back", async () => {
    const [store, clock] = [new RecordedStore(), new FakeClock()];
    store.state = DOWN;
    await using app = await startOn(store, clock);
    store.failure = new Error("connection refused");
    store.state = undefined;

    await clock.advanceAsync(12_500);
    const away = await statusOf(app);
    store.failure = undefined;
    await clock.advanceAsync(1000);

    expect([away, await statusOf(app)]).to.deep.equal([503, 200]);
    const warning = "WARN the store of the maintenance is away: the last known state stays Error: connection refused";
    expect(eventsOf(app)).to.deep.equal([
      "INFO maintenance has started",
      warning,
      warning,
      "INFO maintenance has ended",
      "INFO the store of the maintenance is back",
    ]);
  });

  for (const isEngaged of [true, false]) {
    it(`leaves ${isEngaged ? "an engaged" : "a new"} handle as it is at the start, and says so`, async () => {
      const store = new RecordedStore();
      store.failure = new Error("connection refused");

      await using app = await startOn(store, new FakeClock(), isEngaged ? Maintenance.engaged() : new Maintenance());

      expect(await statusOf(app)).to.equal(isEngaged ? 503 : 200);
      expect((await app.get("/up/ready")).status).to.equal(200);
      expect(eventsOf(app)).to.deep.equal([
        "WARN the store of the maintenance is away: its state is unknown, and that of the handle stays Error: connection refused",
      ]);
    });
  }

  it("does not respond: the start waits 2 s, no access overlaps another, and the poll goes on afterwards", async () => {
    const [store, clock] = [new RecordedStore(), new FakeClock()];
    store.gate = new Gate();
    const starting = startOn(store, clock);
    await clock.advanceAsync(1999);
    const early = await Promise.race([starting.then(() => "started"), Promise.resolve("waits")]);
    await clock.advanceAsync(1);
    await using app = await starting;
    await clock.advanceAsync(10_000);
    const { length } = store.accesses;
    store.gate.open();
    store.gate = undefined;
    store.state = DOWN;
    await clock.advanceAsync(2000);

    expect(early).to.equal("waits");
    expect([length, store.maxRunning]).to.deep.equal([1, 1]);
    expect(await statusOf(app)).to.equal(503);
  });

  it("gets the last change when it is back", async () => {
    const [store, clock, maintenance] = [new RecordedStore(), new FakeClock(), new Maintenance()];
    await using app = await startOn(store, clock, maintenance);
    store.failure = new Error("connection refused");

    maintenance.engage();
    await clock.advanceAsync(3000);
    const away = await statusOf(app);
    store.failure = undefined;
    await clock.advanceAsync(1000);

    expect([away, await statusOf(app)]).to.deep.equal([503, 503]);
    expect(store.state?.isEngaged).to.equal(true);
    expect(store.accesses).to.deep.equal(["read", "down", "down", "down", "down", "down"]);
  });
});

describe("a change by the code of one process", () => {
  it("reaches the other processes within a second, with the process and the time", async () => {
    const [store, clock, maintenance] = [new RecordedStore(), new FakeClock(), new Maintenance()];
    await using app = await startOn(store, clock, maintenance);
    await using other = await startOn(store, clock);

    maintenance.engage();
    const at = clock.now();
    const first = await statusOf(app);
    await clock.advanceAsync(1000);
    const both = [await statusOf(app), await statusOf(other)];
    maintenance.disengage();
    await clock.advanceAsync(1000);

    expect([first, ...both]).to.deep.equal([503, 503, 503]);
    expect([await statusOf(app), await statusOf(other)]).to.deep.equal([200, 200]);
    expect(store.state).to.deep.include({ isEngaged: false, since: at + 1000 });
    expect(store.state?.by).to.match(new RegExp(`^process ${process.pid}@.`));
  });

  it("is newer than a read that has started before it", async () => {
    const [store, clock, maintenance] = [new RecordedStore(), new FakeClock(), new Maintenance()];
    await using app = await startOn(store, clock, maintenance);
    const gate = (store.gate = new Gate());
    await clock.advanceAsync(1000);

    maintenance.engage();
    gate.open();
    await clock.advanceAsync(0);

    expect(await statusOf(app)).to.equal(503);
    expect(store.state?.isEngaged).to.equal(true);
    expect(store.accesses).to.deep.equal(["read", "read", "down"]);
    expect(store.maxRunning).to.equal(1);
  });

  it("keeps the time and the user of the state that it repeats", async () => {
    const [store, clock, maintenance] = [new RecordedStore(), new FakeClock(), new Maintenance()];
    store.state = DOWN;
    await using app = await startOn(store, clock, maintenance);

    maintenance.engage();
    await clock.advanceAsync(0);

    expect(await statusOf(app)).to.equal(503);
    expect(store.accesses).to.deep.equal(["read", "down"]);
    expect(store.state).to.deep.equal(DOWN);
  });

  it("is stored before the process has stopped", async () => {
    const [store, maintenance] = [new RecordedStore(), new Maintenance()];
    {
      await using app = await startOn(store, new FakeClock(), maintenance);
      await statusOf(app);
      maintenance.engage();
    }
    expect(store.state?.isEngaged).to.equal(true);

    maintenance.disengage();

    expect(store.accesses).to.deep.equal(["read", "down"]);
  });
});
