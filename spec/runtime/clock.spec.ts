import { expect } from "chai";
import { OVERDUE, sleep, SystemClock, within } from "../../lib/runtime/clock.js";
import { FakeClock } from "../../lib/testing/fake-clock.js";
import { rejectionOf } from "../support/rejection-of.js";

/** The timer is cancelled after the result is given, before the next turn of the event loop. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A promise that never settles. */
const endless = new Promise<never>(() => {});

describe("sleep", () => {
  it("ends after its time, not before", async () => {
    const clock = new FakeClock();
    const ended: string[] = [];
    const sleeping = sleep(clock, 100, new AbortController().signal).then(() => ended.push("ended"));

    await clock.advanceAsync(99);
    const early = [...ended];
    await clock.advanceAsync(1);
    await sleeping;

    expect([early, ended]).to.deep.equal([[], ["ended"]]);
  });

  it("rejects when its signal aborts or has aborted, and leaves no timer", async () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const reason = new Error("enough");
    const sleeping = rejectionOf(sleep(clock, 100, controller.signal));

    controller.abort(reason);

    expect(await sleeping).to.equal(reason);
    expect(await rejectionOf(sleep(clock, 100, controller.signal))).to.equal(reason);
    expect(clock.pending).to.equal(0);
  });
});

describe("within", () => {
  it("gives the result of the work, and leaves no timer", async () => {
    const clock = new FakeClock();

    const result = await within(clock, 100, Promise.resolve("done"));
    await turn();

    expect(result).to.equal("done");
    expect(clock.pending).to.equal(0);
  });

  it("rejects as the work does, and leaves no timer", async () => {
    const clock = new FakeClock();
    const failure = new Error("failed");

    const error = await rejectionOf(within(clock, 100, Promise.reject(failure)));
    await turn();

    expect(error).to.equal(failure);
    expect(clock.pending).to.equal(0);
  });

  it("gives OVERDUE at the limit, not before", async () => {
    const clock = new FakeClock();
    const results: unknown[] = [];
    const waiting = within(clock, 100, endless).then((result) => results.push(result));

    await clock.advanceAsync(99);
    const early = [...results];
    await clock.advanceAsync(1);
    await waiting;

    expect(early).to.deep.equal([]);
    expect(results).to.deep.equal([OVERDUE]);
  });

  it("has no limit before the abort of the signal", async () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const waiting = within(clock, 100, endless, controller.signal);

    const before = clock.pending;
    controller.abort();
    const after = clock.pending;
    await clock.advanceAsync(100);

    expect([before, after]).to.deep.equal([0, 1]);
    expect(await waiting).to.equal(OVERDUE);
  });

  it("counts at once from a signal that is aborted already", async () => {
    const clock = new FakeClock();
    const waiting = within(clock, 100, endless, AbortSignal.abort());

    await clock.advanceAsync(100);

    expect(await waiting).to.equal(OVERDUE);
  });
});

describe("SystemClock", () => {
  it("calls the callback of a timer, unless the timer was cancelled", async () => {
    const clock = new SystemClock();
    const calls: string[] = [];
    clock.setTimeout(() => calls.push("cancelled"), 1).cancel();

    await new Promise<void>((resolve) => {
      clock.setTimeout(() => {
        calls.push("fired");
        resolve();
      }, 2);
    });

    expect(calls).to.deep.equal(["fired"]);
  });
});
