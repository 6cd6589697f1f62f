import { expect } from "chai";
import * as fc from "fast-check";
import { StartupError } from "../../lib/errors/diagnostic.js";
import { FrameworkError } from "../../lib/errors/framework-error.js";
import { Startup } from "../../lib/lifecycle/startup.js";
import { SubsystemRegistry } from "../../lib/lifecycle/subsystem-registry.js";
import { Subsystem, SUBSYSTEM_KINDS } from "../../lib/lifecycle/subsystem.js";
import { FakeClock } from "../../lib/testing/fake-clock.js";
import { never, Recorded } from "./recorded.js";

function startupOf(subsystems: readonly Subsystem[], clock = new FakeClock()): Startup {
  return new Startup(new SubsystemRegistry(subsystems).members, clock);
}

async function rejection(promise: Promise<unknown>): Promise<StartupError> {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(outcome).to.be.instanceOf(StartupError);
  return outcome as StartupError;
}

function fail(message: string): () => never {
  return () => {
    throw new Error(message);
  };
}

describe("Startup", () => {
  it("starts database, jobs, cache, storage, mail and stops them in reverse", async () => {
    const journal: string[] = [];
    const kinds = ["mail", "cache", "database", "storage", "jobs"] as const;
    const startup = startupOf(kinds.map((kind) => new Recorded(kind, journal)));

    const started = await startup.start();
    const failures = await startup.stop();

    expect(started).to.equal(true);
    expect(failures).to.deep.equal([]);
    const order = ["database", "jobs", "cache", "storage", "mail"];
    expect(journal).to.deep.equal([
      ...order.map((kind) => `start ${kind}`),
      ...order.toReversed().map((kind) => `stop ${kind}`),
    ]);
  });

  it("completes one start before the next", async () => {
    const journal: string[] = [];
    const clock = new FakeClock();
    const start = () => new Promise<void>((resolve) => void clock.setTimeout(resolve, 10));
    const startup = startupOf([new Recorded("database", journal, { start }), new Recorded("mail", journal)], clock);

    const starting = startup.start();
    await clock.advanceAsync(9);
    const before = [...journal];
    await clock.advanceAsync(1);
    await starting;

    expect(before).to.deep.equal(["start database"]);
    expect(journal).to.deep.equal(["start database", "start mail"]);
  });

  it("stops every started subsystem when any of the starts fails", async () => {
    const kinds = fc.array(fc.constantFrom(...SUBSYSTEM_KINDS), { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(kinds, fc.nat(), async (registered, pick) => {
        const journal: string[] = [];
        const failing = pick % registered.length;
        const subsystems = registered.map((kind, index) => {
          const name = `${index}`;
          return new Recorded(kind, journal, index === failing ? { name, start: fail("refused") } : { name });
        });
        const names = new SubsystemRegistry(subsystems).members.map(({ subsystem }) => subsystem.name);

        await rejection(startupOf(subsystems).start());

        const tried = names.slice(0, names.indexOf(`${failing}`) + 1);
        expect(journal).to.deep.equal([
          ...tried.map((name) => `start ${name}`),
          ...tried
            .slice(0, -1)
            .toReversed()
            .map((name) => `stop ${name}`),
        ]);
      }),
    );
  });

  it("keeps the failure as the cause and names the subsystem", async () => {
    const cause = new Error("connection refused");
    const start = () => Promise.reject(cause);

    const error = await rejection(startupOf([new Recorded("cache", [], { start })]).start());

    expect(error.cause).to.equal(cause);
    expect(error.diagnostics).to.have.length(1);
    expect(error.diagnostics[0]).to.include({
      code: "E_SUBSYSTEM_START",
      what: "cache failed to start: connection refused",
      where: "Recorded.start()",
    });
  });

  it("keeps the code of a fault of the program, and not that of a server which is not reached", async () => {
    const codes = [];
    for (const [code, status] of [
      ["E_DB_PENDING", 500],
      ["E_DB_CONNECTION", 503],
    ] as const) {
      const start = () => Promise.reject(new FrameworkError("shop lacks 1 migrations", { code, status }));
      const { diagnostics } = await rejection(startupOf([new Recorded("database", [], { start })]).start());
      codes.push(diagnostics.map((each) => [each.code, each.what].join(" ")));
    }

    expect(codes).to.deep.equal([
      ["E_DB_PENDING database failed to start: shop lacks 1 migrations"],
      ["E_SUBSYSTEM_START database failed to start: shop lacks 1 migrations"],
    ]);
  });

  it("adds the failed stops after a failed start, and goes on with the next stop", async () => {
    const journal: string[] = [];
    const startup = startupOf([
      new Recorded("database", journal),
      new Recorded("jobs", journal, { stop: fail("stuck") }),
      new Recorded("mail", journal, { start: fail("no such host") }),
    ]);

    const { diagnostics } = await rejection(startup.start());

    expect(diagnostics.map(({ code, what }) => `${code} ${what}`)).to.deep.equal([
      "E_SUBSYSTEM_START mail failed to start: no such host",
      "E_SUBSYSTEM_STOP jobs failed to stop: stuck",
    ]);
    expect(journal).to.deep.equal(["start database", "start jobs", "start mail", "stop jobs", "stop database"]);
  });

  it("does not stop a subsystem twice after a failed start", async () => {
    const journal: string[] = [];
    const startup = startupOf([
      new Recorded("database", journal),
      new Recorded("mail", journal, { start: fail("no") }),
    ]);

    await rejection(startup.start());
    const failures = await startup.stop();

    expect(failures).to.deep.equal([]);
    expect(journal).to.deep.equal(["start database", "start mail", "stop database"]);
  });

  it("starts once and stops once when it is called twice", async () => {
    const journal: string[] = [];
    const startup = startupOf([new Recorded("database", journal)]);

    await Promise.all([startup.start(), startup.start()]);
    await Promise.all([startup.stop(), startup.stop()]);

    expect(journal).to.deep.equal(["start database", "stop database"]);
  });

  it("starts and stops without subsystems", async () => {
    const startup = startupOf([]);

    expect(await startup.start()).to.equal(true);
    expect(await startup.stop()).to.deep.equal([]);
  });

  it("does not limit the time of a start", async () => {
    const clock = new FakeClock();
    const start = () => new Promise<void>((resolve) => void clock.setTimeout(resolve, 3_600_000));
    const starting = startupOf([new Recorded("database", [], { start })], clock).start();

    await clock.advanceAsync(3_600_000);

    expect(await starting).to.equal(true);
    expect(clock.pending).to.equal(0);
  });

  it("gives each stop five seconds and goes on to the next", async () => {
    const clock = new FakeClock();
    const journal: string[] = [];
    const startup = startupOf(
      [new Recorded("database", journal), new Recorded("mail", journal, { stop: never })],
      clock,
    );
    await startup.start();

    const stopping = startup.stop();
    await clock.advanceAsync(4_999);
    const before = [...journal];
    await clock.advanceAsync(1);

    expect(before).to.not.include("stop database");
    expect(journal.at(-1)).to.equal("stop database");
    expect((await stopping).map(({ code, message }) => `${code} ${message}`)).to.deep.equal([
      "E_SUBSYSTEM_STOP mail failed to stop: stop() took longer than 5000 ms",
    ]);
    expect(clock.pending).to.equal(0);
  });

  it("ignores a rejection after the deadline", async () => {
    const clock = new FakeClock();
    const stop = () => new Promise<void>((_, reject) => void clock.setTimeout(() => reject(new Error("late")), 6_000));
    const startup = startupOf([new Recorded("mail", [], { stop })], clock);
    await startup.start();

    const stopping = startup.stop();
    await clock.advanceAsync(10_000);

    expect(await stopping).to.have.length(1);
  });

  it("lets a running start finish before the stop, and starts no other subsystem", async () => {
    const clock = new FakeClock();
    const journal: string[] = [];
    const start = () => new Promise<void>((resolve) => void clock.setTimeout(resolve, 4_000));
    const startup = startupOf([new Recorded("database", journal, { start }), new Recorded("mail", journal)], clock);
    const starting = startup.start();

    const stopping = startup.stop();
    await clock.advanceAsync(4_000);

    expect(await starting).to.equal(false);
    expect(await stopping).to.deep.equal([]);
    expect(journal).to.deep.equal(["start database", "stop database"]);
  });

  it("waits five seconds for a running start, counted from the stop", async () => {
    const clock = new FakeClock();
    const journal: string[] = [];
    const startup = startupOf(
      [new Recorded("database", journal), new Recorded("jobs", journal, { start: never })],
      clock,
    );
    const starting = startup.start();
    await clock.advanceAsync(60_000);

    const stopping = startup.stop();
    await clock.advanceAsync(4_999);
    const before = [...journal];
    await clock.advanceAsync(1);

    expect(before).to.deep.equal(["start database", "start jobs"]);
    expect(await starting).to.equal(false);
    expect((await stopping).map(String)).to.deep.equal([
      "FrameworkError: jobs failed to stop: start() took longer than 5000 ms",
    ]);
    expect(journal).to.deep.equal(["start database", "start jobs", "stop database"]);
    expect(clock.pending).to.equal(0);
  });

  it("stops a subsystem whose abandoned start succeeds later", async () => {
    const clock = new FakeClock();
    const journal: string[] = [];
    const start = () => new Promise<void>((resolve) => void clock.setTimeout(resolve, 7_000));
    const startup = startupOf([new Recorded("database", journal, { start })], clock);
    void startup.start();

    void startup.stop();
    await clock.advanceAsync(7_000);

    expect(journal).to.deep.equal(["start database", "stop database"]);
  });

  it("starts no subsystem after stop", async () => {
    const journal: string[] = [];
    const startup = startupOf([new Recorded("database", journal)]);

    await startup.stop();

    expect(await startup.start()).to.equal(false);
    expect(journal).to.deep.equal([]);
  });
});
