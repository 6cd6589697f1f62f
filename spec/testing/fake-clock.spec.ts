import { AsyncLocalStorage } from "node:async_hooks";
import { expect } from "chai";
import * as fc from "fast-check";
import { FakeClock } from "../../lib/testing/fake-clock.js";

const HOUR_MS = 3_600_000;

/** When a poll of each second is called in one advance. */
function pollTimes(ms: number): readonly number[] {
  const clock = new FakeClock();
  const times: number[] = [];
  const poll = (): void => {
    times.push(clock.monotonic());
    clock.setTimeout(poll, 1000, { isPoll: true });
  };
  clock.setTimeout(poll, 1000, { isPoll: true });
  clock.advance(ms);
  return times;
}

describe("FakeClock", () => {
  it("does not move until a test advances it", () => {
    const clock = new FakeClock(1_000);

    const before = [clock.now(), clock.monotonic()];
    clock.advance(250);

    expect(before).to.deep.equal([1_000, 0]);
    expect([clock.now(), clock.monotonic()]).to.deep.equal([1_250, 250]);
  });

  it("fires a timer at its time and not before", () => {
    const clock = new FakeClock();
    const fired: number[] = [];
    clock.setTimeout(() => fired.push(clock.monotonic()), 100);

    clock.advance(99);
    const early = [...fired];
    clock.advance(50);

    expect(early).to.deep.equal([]);
    expect(fired).to.deep.equal([100]);
    expect(clock.monotonic()).to.equal(149);
  });

  it("fires timers in the order of their times, and equal times in the order in which they were set", () => {
    const delays = fc.array(fc.nat(50));
    fc.assert(
      fc.property(delays, (armed) => {
        const clock = new FakeClock();
        const fired: number[] = [];
        for (const [index, delay] of armed.entries()) clock.setTimeout(() => fired.push(index), delay);

        clock.advance(50);

        const expected = [...armed.keys()].toSorted(
          (one, other) => (armed[one] ?? 0) - (armed[other] ?? 0) || one - other,
        );
        expect(fired).to.deep.equal(expected);
        expect(clock.pending).to.equal(0);
      }),
    );
  });

  it("reaches the same state by one step and by many steps", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1_000)), (steps) => {
        const clock = new FakeClock();
        const ticks: number[] = [];
        const tick = () => {
          ticks.push(clock.monotonic());
          clock.setTimeout(tick, 70);
        };
        tick();

        for (const step of steps) clock.advance(step);

        const total = steps.reduce((sum, step) => sum + step, 0);
        expect(clock.monotonic()).to.equal(total);
        expect(ticks).to.deep.equal(Array.from({ length: Math.floor(total / 70) + 1 }, (_, index) => index * 70));
      }),
    );
  });

  it("fires a timer that a callback sets, within the same advance", () => {
    const clock = new FakeClock();
    const fired: number[] = [];
    clock.setTimeout(() => clock.setTimeout(() => fired.push(clock.monotonic()), 10), 10);

    clock.advance(20);

    expect(fired).to.deep.equal([20]);
  });

  it("does not fire a timer that was cancelled, also by an earlier timer", () => {
    const clock = new FakeClock();
    const fired: string[] = [];
    const late = clock.setTimeout(() => fired.push("late"), 20);
    clock.setTimeout(() => late.cancel(), 10);

    clock.advance(100);
    late.cancel();

    expect(fired).to.deep.equal([]);
    expect(clock.pending).to.equal(0);
  });

  it("fires a timer with a delay of 0 at the next advance, also by 0 ms", () => {
    const clock = new FakeClock();
    const fired: string[] = [];
    clock.setTimeout(() => fired.push("zero"), 0);
    clock.setTimeout(() => fired.push("negative"), -5);

    const before = [...fired];
    clock.advance(0);

    expect(before).to.deep.equal([]);
    expect(fired).to.deep.equal(["zero", "negative"]);
  });

  it("lets promises settle between two timers in advanceAsync", async () => {
    const clock = new FakeClock();
    const pause = (ms: number) => new Promise<void>((resolve) => void clock.setTimeout(resolve, ms));
    const moments: number[] = [];
    const walk = async () => {
      await pause(10);
      moments.push(clock.monotonic());
      await pause(10);
      moments.push(clock.monotonic());
    };
    const walking = walk();

    await clock.advanceAsync(20);
    await walking;

    expect(moments).to.deep.equal([10, 20]);
  });

  it("fires a timer in the async context in which it was set", () => {
    const clock = new FakeClock();
    const storage = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    storage.run("armed", () => clock.setTimeout(() => seen.push(storage.getStore()), 10));

    storage.run("advanced", () => clock.advance(10));

    expect(seen).to.deep.equal(["armed"]);
  });

  it("sets the wall clock without a change of durations or timers", () => {
    const clock = new FakeClock(0);
    const fired: number[] = [];
    clock.setTimeout(() => fired.push(clock.now()), 100);
    clock.advance(50);

    clock.setNow(1_000_000);
    const set = [clock.now(), clock.monotonic(), fired.length];
    clock.advance(50);

    expect(set).to.deep.equal([1_000_000, 50, 0]);
    expect(fired).to.deep.equal([1_000_050]);
  });

  for (const ms of [-1, Number.NaN]) {
    it(`refuses to advance by ${ms}`, () => {
      expect(() => new FakeClock().advance(ms)).to.throw(RangeError, `${ms}`);
    });
  }

  it("calls a poll each time in a short advance, and at most ten thousand times and at the end in a long one", () => {
    const [hour, month] = [pollTimes(HOUR_MS), pollTimes(30 * 24 * HOUR_MS)];

    expect(hour).to.have.length(3600);
    expect(month.length).to.be.within(9_990, 10_001);
    expect(month.at(-1)).to.equal(30 * 24 * HOUR_MS);
  });

  it("fires more timers than a hundred thousand, if the time moves between them", () => {
    const clock = new FakeClock();
    let ticks = 0;
    const tick = (): void => {
      ticks += 1;
      clock.setTimeout(tick, 1000);
    };
    tick();

    clock.advance(48 * HOUR_MS);

    expect(ticks).to.equal(172_801);
  });

  it("refuses a timer that sets itself again with a delay of 0 for ever", () => {
    const clock = new FakeClock();
    const again = () => void clock.setTimeout(again, 0);
    again();

    expect(() => clock.advance(1)).to.throw(RangeError, "without a delay");
  });
});
