import { expect } from "chai";
import type { Profile } from "../../lib/runtime/profile.js";
import { Probes } from "../../lib/lifecycle/readiness.js";
import { SubsystemRegistry } from "../../lib/lifecycle/subsystem-registry.js";
import { FakeClock } from "../../lib/testing/fake-clock.js";
import { eventsOf } from "../support/events-of.js";
import { never, Probed } from "./recorded.js";

function setUp(profile: Profile) {
  const clock = new FakeClock();
  const subsystems = [
    new Probed("database", () => Promise.reject(new Error("root may not log in"))),
    new Probed("cache", never),
    new Probed("mail"),
  ];
  return { clock, probes: new Probes(new SubsystemRegistry(subsystems).members, { clock, timeoutMs: 250, profile }) };
}

describe("Probes", () => {
  it("report the errors by events in release", async () => {
    const { clock, probes } = setUp("release");

    const events = await eventsOf(async () => {
      void probes.run();
      await clock.advanceAsync(250);
    });

    expect(events).to.deep.equal([
      "WARN framework::lifecycle: probe failed check=database error=Error: root may not log in",
      "WARN framework::lifecycle: probe failed check=cache error=FrameworkError: timed out after 250 ms",
    ]);
  });

  it("report the errors by the reasons alone in debug", async () => {
    const { clock, probes } = setUp("debug");

    const events = await eventsOf(async () => {
      void probes.run();
      await clock.advanceAsync(250);
    });

    expect(events).to.deep.equal([]);
  });

  it("have a result even if a probe fails after its timeout", async () => {
    const clock = new FakeClock();
    const late = () => new Promise((_, reject) => void clock.setTimeout(() => reject(new Error("late")), 500));
    const members = new SubsystemRegistry([new Probed("cache", late)]).members;
    const probes = new Probes(members, { clock, timeoutMs: 250, profile: "release" });

    const running = probes.run();
    await clock.advanceAsync(1_000);

    expect(await running).to.deep.equal({ cache: { status: "down", reason: "timed out" } });
  });
});
