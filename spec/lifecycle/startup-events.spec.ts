import { expect } from "chai";
import { Startup } from "../../lib/lifecycle/startup.js";
import { SubsystemRegistry } from "../../lib/lifecycle/subsystem-registry.js";
import { FakeClock } from "../../lib/testing/fake-clock.js";
import { eventsOf } from "../support/events-of.js";
import { never, Recorded, type Methods } from "./recorded.js";

function setUp(...methods: readonly Methods[]) {
  const clock = new FakeClock();
  const subsystems = methods.map((each) => new Recorded("database", [], each));
  return { clock, startup: new Startup(new SubsystemRegistry(subsystems).members, clock) };
}

function takes(clock: () => FakeClock, ms: number): () => Promise<void> {
  return () => new Promise((resolve) => void clock().setTimeout(resolve, ms));
}

const fail = (message: string) => () => Promise.reject(new Error(message));

describe("the events of Startup", () => {
  it("report each start and stop with its duration", async () => {
    const { clock, startup } = setUp({ start: takes(() => clock, 20), stop: takes(() => clock, 30) });

    const events = await eventsOf(async () => {
      void startup.start();
      await clock.advanceAsync(20);
      void startup.stop();
      await clock.advanceAsync(30);
    });

    expect(events).to.deep.equal([
      "DEBUG framework::lifecycle: subsystem started subsystem=database duration_ms=20",
      "DEBUG framework::lifecycle: subsystem stopped subsystem=database duration_ms=30",
    ]);
  });

  it("warn of a slow start every ten seconds", async () => {
    const { clock, startup } = setUp({ start: takes(() => clock, 25_000) });

    const events = await eventsOf(async () => {
      const starting = startup.start();
      await clock.advanceAsync(120_000);
      await starting;
    });

    expect(events).to.deep.equal([
      "WARN framework::lifecycle: subsystem is slow to start subsystem=database waited_ms=10000",
      "WARN framework::lifecycle: subsystem is slow to start subsystem=database waited_ms=20000",
      "DEBUG framework::lifecycle: subsystem started subsystem=database duration_ms=25000",
    ]);
  });

  it("do not warn of a start that took less than ten seconds", async () => {
    const { clock, startup } = setUp({ start: takes(() => clock, 9_999) });

    const events = await eventsOf(async () => {
      void startup.start();
      await clock.advanceAsync(120_000);
    });

    expect(events).to.have.length(1);
  });

  it("report a failed start and a failed stop after it as errors", async () => {
    const { startup } = setUp({ name: "a", stop: fail("stuck") }, { name: "b", start: fail("refused") });

    const events = await eventsOf(() => startup.start().catch(() => false));

    expect(events.slice(1)).to.deep.equal([
      "ERROR framework::lifecycle: subsystem failed to start subsystem=database:b error=Error: refused",
      "ERROR framework::lifecycle: subsystem failed to stop subsystem=database:a error=Error: stuck",
    ]);
  });

  it("report a stop that takes too long as an error, and then the next stop", async () => {
    const { clock, startup } = setUp({ name: "a" }, { name: "b", stop: never });
    await startup.start();

    const events = await eventsOf(async () => {
      void startup.stop();
      await clock.advanceAsync(5_000);
    });

    expect(events).to.deep.equal([
      "ERROR framework::lifecycle: subsystem failed to stop subsystem=database:b error=Error: stop() took longer than 5000 ms",
      "DEBUG framework::lifecycle: subsystem stopped subsystem=database:a duration_ms=0",
    ]);
  });

  it("report an abandoned start and its late failure", async () => {
    const { clock, startup } = setUp({ start: () => takes(() => clock, 6_000)().then(fail("too late")) });

    const events = await eventsOf(async () => {
      void startup.start();
      void startup.stop();
      await clock.advanceAsync(6_000);
    });

    expect(events).to.deep.equal([
      "ERROR framework::lifecycle: subsystem did not start before the stop subsystem=database limit_ms=5000",
      "WARN framework::lifecycle: late failure subsystem=database error=Error: too late",
    ]);
  });
});
