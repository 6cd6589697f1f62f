/** Schedules: the times of cron texts over changes of the clock, ticks of several processes, and ticks that were missed. */
import { Every, Jobs, MemoryJobs, schedule, type Schedule, type ScheduledTick } from "@stagecraft/framework/jobs";
import { Metrics } from "@stagecraft/framework/observe";
import { FakeClock } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { errorOf } from "../../support/error-of.js";
import { TracingRecorder } from "../../support/tracing-recorder.js";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

const at = (text: string): number => Date.parse(text);

/** The ticks after a time, in the form of ISO 8601 without seconds. */
function ticks(sweep: Schedule, from: string, count: number): readonly string[] {
  const found: string[] = [];
  for (let time = sweep.next(at(from)); found.length < count; time = sweep.next(time))
    found.push(new Date(time).toISOString().replace(":00.000Z", "Z"));
  return found;
}

/** Ticks of Berlin, whose clock goes from 2:00 to 3:00 on 29 March 2026 at 1:00 UTC, and from 3:00 to 2:00 on 25 October at 1:00 UTC. */
const TIMES: readonly [what: string, cron: string, zone: string, from: string, expected: readonly string[]][] = [
  ["every day at three in UTC", "0 3 * * *", "UTC", "2026-03-28T03:00Z", ["2026-03-29T03:00Z", "2026-03-30T03:00Z"]],
  [
    "local time before and after a change",
    "0 12 * * *",
    "Europe/Berlin",
    "2026-03-28T00:00Z",
    ["2026-03-28T11:00Z", "2026-03-29T10:00Z"],
  ],
  [
    "a skipped time comes at the first minute after it",
    "30 2 * * *",
    "Europe/Berlin",
    "2026-03-28T12:00Z",
    ["2026-03-29T01:00Z", "2026-03-30T00:30Z"],
  ],
  [
    "the skipped times of an hour come once",
    "*/20 2 * * *",
    "Europe/Berlin",
    "2026-03-28T12:00Z",
    ["2026-03-29T01:00Z", "2026-03-30T00:00Z"],
  ],
  [
    "a time after the skipped hour is not moved",
    "0 3 * * *",
    "Europe/Berlin",
    "2026-03-28T12:00Z",
    ["2026-03-29T01:00Z", "2026-03-30T01:00Z"],
  ],
  [
    "a repeated time comes once, the first time",
    "30 2 * * *",
    "Europe/Berlin",
    "2026-10-24T12:00Z",
    ["2026-10-25T00:30Z", "2026-10-26T01:30Z"],
  ],
  [
    "a repeated time does not come again after its first time",
    "30 2 * * *",
    "Europe/Berlin",
    "2026-10-25T00:30Z",
    ["2026-10-26T01:30Z"],
  ],
  [
    "the times of a repeated hour come once",
    "*/30 2 * * *",
    "Europe/Berlin",
    "2026-10-24T12:00Z",
    ["2026-10-25T00:00Z", "2026-10-25T00:30Z", "2026-10-26T01:00Z"],
  ],
  [
    "an interval goes through a repeated hour",
    "*/30 * * * *",
    "Europe/Berlin",
    "2026-10-25T00:10Z",
    ["2026-10-25T00:30Z", "2026-10-25T01:00Z", "2026-10-25T01:30Z", "2026-10-25T02:00Z"],
  ],
  [
    "an interval goes over a skipped hour",
    "*/30 * * * *",
    "Europe/Berlin",
    "2026-03-29T00:10Z",
    ["2026-03-29T00:30Z", "2026-03-29T01:00Z", "2026-03-29T01:30Z"],
  ],
  [
    "half an hour is skipped",
    "15 2 * * *",
    "Australia/Lord_Howe",
    "2026-10-03T00:00Z",
    ["2026-10-03T15:30Z", "2026-10-04T15:15Z"],
  ],
  [
    "midnight is skipped",
    "30 0 * * *",
    "America/Sao_Paulo",
    "2018-11-03T12:00Z",
    ["2018-11-04T03:00Z", "2018-11-05T02:30Z"],
  ],
  ["days of the week", "0 9 * * 1-5", "UTC", "2026-01-02T10:00Z", ["2026-01-05T09:00Z", "2026-01-06T09:00Z"]],
  ["29 February", "0 0 29 2 *", "UTC", "2026-01-01T00:00Z", ["2028-02-29T00:00Z", "2032-02-29T00:00Z"]],
];

class Sweeper {
  readonly ticks: string[] = [];
  @Every(schedule("links.sweep", "*/10 * * * *"))
  sweep({ due }: ScheduledTick): void {
    this.ticks.push(due);
  }
}

class SkippingSweeper {
  readonly ticks: string[] = [];
  @Every(schedule("links.sweep", "*/10 * * * *", { missed: "skip" }))
  sweep({ due }: ScheduledTick): void {
    this.ticks.push(due);
  }
}

/** A process over the store. */
async function begin(store: MemoryJobs, clock: FakeClock, handler: object): Promise<Jobs> {
  const jobs = new Jobs({ store });
  jobs.prepare({ name: "jobs", clock, metrics: new Metrics(), instances: () => [handler] });
  await jobs.beginWork("worker");
  return jobs;
}

describe("the times of a schedule", () => {
  for (const [what, cron, timeZone, from, expected] of TIMES) {
    it(`follow the rule "${what}" for ${cron} in ${timeZone}`, () => {
      expect(ticks(schedule("s", cron, { timeZone }), from, expected.length)).to.deep.equal(expected);
    });
  }

  it("include the latest tick of a span, also after years", () => {
    const minutely = schedule("s", "* * * * *");
    const leap = schedule("s", "0 0 29 2 *");
    const now = at("2026-06-01T00:00:30Z");

    expect(minutely.latest(0, now)).to.equal(at("2026-06-01T00:00Z"));
    expect(minutely.latest(at("2026-06-01T00:00Z"), now)).to.equal(undefined);
    expect(leap.latest(0, now)).to.equal(at("2024-02-29T00:00Z"));
  });

  const refused: readonly [string, string, object, string][] = [
    ["an empty text", "", {}, "E_SCHEDULE_CRON"],
    ["seconds", "0 0 3 * * *", {}, "E_SCHEDULE_CRON"],
    ["a minute of 61", "61 3 * * *", {}, "E_SCHEDULE_CRON"],
    ["a date that does not exist", "0 0 30 2 *", {}, "E_SCHEDULE_CRON"],
    ["a text of 300 characters", `${"1,".repeat(150)}1 3 * * *`, {}, "E_SCHEDULE_CRON"],
    ["an unknown zone", "0 3 * * *", { timeZone: "Mars/Olympus" }, "E_SCHEDULE_ZONE"],
    ["an unknown rule", "0 3 * * *", { missed: "twice" }, "E_SCHEDULE_MISSED"],
    ["an unknown option", "0 3 * * *", { timezone: "UTC" }, "E_OPTION"],
  ];
  for (const [what, cron, options, code] of refused) {
    it(`are refused for ${what}`, () => {
      expect(errorOf(() => schedule("s", cron, options))).to.include({ code });
    });
  }
});

describe("the ticks of a schedule", () => {
  it("run in one of two processes, once each", async () => {
    const clock = new FakeClock(at("2026-01-01T00:05Z"));
    const store = new MemoryJobs({ clock });
    const sweepers = [new Sweeper(), new Sweeper()];
    const processes = await Promise.all(sweepers.map((sweeper) => begin(store, clock, sweeper)));
    await clock.advanceAsync(HOUR_MS);
    for (const jobs of processes) await jobs.endWork(0);

    const all = sweepers.flatMap(({ ticks: seen }) => seen).toSorted((one, other) => (one < other ? -1 : 1));
    expect(all).to.deep.equal(
      ["00:10", "00:20", "00:30", "00:40", "00:50", "01:00"].map((time) => `2026-01-01T${time}:00.000Z`),
    );
    expect(clock.pending).to.equal(0);
  });

  for (const [handler, expected] of [
    [new Sweeper(), ["00:10", "01:30", "01:40"]],
    [new SkippingSweeper(), ["00:10", "01:40"]],
  ] as const) {
    it(`that were missed for an hour run ${expected.length === 3 ? "once" : "not at all"}`, async () => {
      const clock = new FakeClock(at("2026-01-01T00:05Z"));
      const store = new MemoryJobs({ clock });
      const first = await begin(store, clock, handler);
      await clock.advanceAsync(8 * MINUTE_MS);
      await first.endWork(0);
      clock.advance(80 * MINUTE_MS);
      const second = await begin(store, clock, handler);
      await clock.advanceAsync(8 * MINUTE_MS);
      await second.endWork(0);

      expect(handler.ticks.map((due) => due.slice(11, 16))).to.deep.equal(expected);
    });
  }

  it("follow the clock of the store, also when it jumps", async () => {
    const clock = new FakeClock(at("2026-01-01T00:05Z"));
    const store = new MemoryJobs({ clock });
    const sweeper = new Sweeper();
    const jobs = await begin(store, clock, sweeper);
    await clock.advanceAsync(MINUTE_MS);
    clock.setNow(at("2026-01-01T02:15Z"));
    await clock.advanceAsync(MINUTE_MS);
    clock.setNow(at("2026-01-01T02:01Z"));
    await clock.advanceAsync(15 * MINUTE_MS);
    await jobs.endWork(0);

    // The jump forward is one missed tick; after the jump back no tick comes twice.
    expect(sweeper.ticks.map((due) => due.slice(11, 16))).to.deep.equal(["02:10"]);
  });

  it("are reported with their due time and the real time", async () => {
    const clock = new FakeClock(at("2026-01-01T00:09:59Z"));
    const recorder = new TracingRecorder();
    await recorder.run(async () => {
      const jobs = await begin(new MemoryJobs({ clock }), clock, new Sweeper());
      await clock.advanceAsync(1500);
      await jobs.endWork(0);
    });

    const spans = recorder.spans.filter(({ name }) => name === "framework.schedule.tick");
    expect(spans.map(({ fields }) => fields)).to.deep.equal([
      {
        subsystem: "jobs",
        operation: "tick",
        schedule: "links.sweep",
        due: "2026-01-01T00:10:00.000Z",
        at: "2026-01-01T00:10:00.000Z",
        missed: false,
      },
    ]);
    expect(
      recorder.from("framework::jobs").map(({ level, message, fields }) => [level, message, fields]),
    ).to.deep.include([
      "DEBUG",
      "operation ended",
      { subsystem: "jobs", operation: "tick", outcome: "ok", duration_ms: 0 },
    ]);
  });

  it("that were missed are reported with the time that has passed since, also if none of them runs", async () => {
    const clock = new FakeClock(at("2026-01-01T00:05Z"));
    const store = new MemoryJobs({ clock });
    await (await begin(store, clock, new SkippingSweeper())).endWork(0);
    clock.advance(26 * MINUTE_MS);
    const recorder = new TracingRecorder();
    await recorder.run(async () => {
      const jobs = await begin(store, clock, new SkippingSweeper());
      await clock.advanceAsync(0);
      await jobs.endWork(0);
    });

    const spans = recorder.spans.filter(({ name }) => name === "framework.schedule.tick");
    expect(spans.map(({ fields: { due, at: real, missed } }) => [due, real, missed])).to.deep.equal([
      ["2026-01-01T00:30:00.000Z", "2026-01-01T00:31:00.000Z", true],
    ]);
  });
});
