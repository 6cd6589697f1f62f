/** Two processes whose store is down for longer than the time after which a silent process is dead. */
import { job, type JobContext, MemoryJobs } from "@stagecraft/framework/jobs";
import { FakeClock } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { createHandler } from "../../../lib/testing/contracts/queue-trial.js";
import { Gate } from "../../support/gate.js";
import { preparedJobs } from "../prepared-jobs.js";

const long = job("long", undefined, { attempts: 1, timeoutMs: 600_000 });
const STEPS = ["claim", "complete", "fail", "release", "renew", "heartbeat", "reap", "unhandled", "leave"] as const;

const fails = (): Promise<never> => Promise.reject(new Error("down"));

/** The store as one process sees it: all steps fail while `isDown` says so. */
function seenBy(store: MemoryJobs, isDown: () => boolean): MemoryJobs {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return STEPS.some((step) => step === name) && isDown() ? fails : value.bind(target);
    },
  });
}

describe("an outage of the store", () => {
  it("of forty seconds costs no living process its jobs, in whatever order the processes reconnect", async () => {
    const clock = new FakeClock();
    const store = new MemoryJobs({ clock });
    const down = { first: false, second: false };
    const gate = new Gate();
    const runs: JobContext[] = [];
    const handler = createHandler(long, async (_, ctx) => {
      runs.push(ctx);
      await gate.passed;
    });
    const first = preparedJobs([handler], { store: seenBy(store, () => down.first) }, clock).jobs;
    const second = preparedJobs([], { store: seenBy(store, () => down.second), queues: ["none"] }, clock).jobs;
    await first.dispatch(long);
    for (const jobs of [first, second]) await jobs.beginWork("worker");
    await clock.advanceAsync(40_000);
    Object.assign(down, { first: true, second: true });
    await clock.advanceAsync(40_000);
    down.second = false;
    await clock.advanceAsync(15_000);
    down.first = false;
    await clock.advanceAsync(60_000);
    gate.open();
    await clock.advanceAsync(2000);
    for (const jobs of [first, second]) await jobs.endWork(0);

    expect(runs.map(({ attempt, signal }) => [attempt, signal.aborted])).to.deep.equal([[1, false]]);
    expect(await store.counts()).to.deep.equal({ waiting: 0, running: 0, dead: 0 });
  });

  it("keeps a process without a heartbeat from claiming a job", async () => {
    const clock = new FakeClock();
    const store = new MemoryJobs({ clock });
    const heartbeat = store.heartbeat.bind(store);
    store.heartbeat = fails;
    const attempts: number[] = [];
    const { jobs } = preparedJobs(
      [createHandler(long, (_, { attempt }) => void attempts.push(attempt))],
      { store },
      clock,
    );
    await jobs.beginWork("worker");
    await jobs.dispatch(long);
    await clock.advanceAsync(25_000);
    expect(attempts).to.deep.equal([]);
    store.heartbeat = heartbeat;
    await clock.advanceAsync(12_000);
    await jobs.endWork(0);

    expect(attempts).to.deep.equal([1]);
  });

  it("lets other processes reap the jobs of a dead process half a minute after the outage", async () => {
    const clock = new FakeClock();
    const store = new MemoryJobs({ clock });
    let isDown = false;
    const attempts: number[] = [];
    const again = job("again");
    const handler = createHandler(again, (_, { attempt }) => void attempts.push(attempt));
    await preparedJobs([], { store }, clock).jobs.dispatch(again);
    await store.heartbeat({ id: "dead", names: [], queues: undefined });
    await store.claim({ worker: "dead", queues: undefined, limit: 1, leaseMs: 300_000 });
    const living = preparedJobs([handler], { store: seenBy(store, () => isDown) }, clock).jobs;
    await living.beginWork("worker");
    isDown = true;
    await clock.advanceAsync(40_000);
    isDown = false;
    await clock.advanceAsync(25_000);
    expect(attempts).to.deep.equal([]);
    await clock.advanceAsync(40_000);
    await living.endWork(0);

    expect(attempts).to.deep.equal([2]);
  });
});
