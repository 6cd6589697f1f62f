/** The loop of a process whose store takes it for dead, or fails. */
import {
  Handles,
  type Job,
  job,
  type JobClaim,
  type JobContext,
  JobLeaseLostError,
  Jobs,
  MemoryJobs,
} from "@stagecraft/framework/jobs";
import { Metrics } from "@stagecraft/framework/observe";
import { FakeClock } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { UnhandledPauses } from "../../../lib/jobs/worker/unhandled-pauses.js";
import { createHandler } from "../../../lib/testing/contracts/queue-trial.js";
import { eventsOf } from "../../support/events-of.js";
import { Gate } from "../../support/gate.js";

const counted = job<number>("counted");

/** Its first run waits for its signal. */
class Patient {
  readonly runs: (readonly [attempt: number, token: number])[] = [];
  reason: unknown;

  @Handles(counted)
  async count(_: number, { attempt, token, signal }: JobContext): Promise<void> {
    this.runs.push([attempt, token]);
    if (attempt > 1) return;
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    this.reason = signal.reason;
  }
}

function jobsOver(store: MemoryJobs, clock: FakeClock, handler: object): Jobs {
  const jobs = new Jobs({ store });
  jobs.prepare({ name: "jobs", clock, metrics: new Metrics(), instances: () => [handler] });
  return jobs;
}

describe("a process that its store has declared dead", () => {
  it("drops its jobs and runs them again under a new id, and the store refuses the first result", async () => {
    const patient = new Patient();
    const clock = new FakeClock();
    const store = new MemoryJobs({ clock });
    const stopped = jobsOver(store, clock, patient);
    const events = await eventsOf(async () => {
      await stopped.beginWork("worker");
      await stopped.dispatch(counted, 1);
      await clock.advanceAsync(100);
      // Another process looks while this one is stopped: nothing of it runs for 31 seconds.
      clock.setNow(clock.now() + 31_000);
      await store.reap(30_000);
      await clock.advanceAsync(12_000);
      await stopped.endWork(0);
    });

    expect(patient.reason).to.be.instanceOf(JobLeaseLostError);
    expect(patient.runs).to.deep.equal([
      [1, 1],
      [2, 2],
    ]);
    expect(await store.counts()).to.deep.equal({ waiting: 0, running: 0, dead: 0 });
    expect(events.filter((line) => line.includes("job lease lost"))).to.have.lengthOf(1);
  });
});

describe("a process whose store fails", () => {
  it("continues when the store is back, and loses no job", async () => {
    const seen: number[] = [];
    class Counter {
      @Handles(counted)
      count(number: number): void {
        seen.push(number);
      }
    }
    const clock = new FakeClock();
    const store = new MemoryJobs({ clock });
    let isDown = false;
    const claim = store.claim.bind(store);
    const complete = store.complete.bind(store);
    store.claim = (request) => (isDown ? Promise.reject(new Error("down")) : claim(request));
    store.complete = (claims) => (isDown ? Promise.reject(new Error("down")) : complete(claims));
    const jobs = jobsOver(store, clock, new Counter());
    await jobs.beginWork("worker");
    isDown = true;
    await jobs.dispatch(counted, 1);
    await clock.advanceAsync(10_000);
    expect(seen).to.deep.equal([]);
    isDown = false;
    await clock.advanceAsync(60_000);
    await jobs.endWork(0);

    expect(seen).to.deep.equal([1]);
    expect(await jobs.counts()).to.deep.equal({ waiting: 0, running: 0, dead: 0 });
  });
});

describe("a process that stops", () => {
  it("sends no heartbeat after the one that was under way", async () => {
    const clock = new FakeClock();
    const store = new MemoryJobs({ clock });
    const heartbeat = store.heartbeat.bind(store);
    let beats = 0;
    let goOn: Gate | undefined;
    store.heartbeat = async (worker) => {
      beats += 1;
      await goOn?.passed;
      return heartbeat(worker);
    };
    const jobs = jobsOver(store, clock, new Patient());
    await jobs.beginWork("worker");
    const atBegin = beats;
    goOn = new Gate();
    await clock.advanceAsync(11_000);
    const ended = jobs.endWork(0);
    await clock.advanceAsync(5000);
    await ended;
    goOn.open();
    await clock.advanceAsync(60_000);

    expect(beats).to.equal(atBegin + 1);
  });

  it("releases the jobs of a claim that is under way, and their attempt does not count", async () => {
    const clock = new FakeClock();
    const store = new MemoryJobs({ clock });
    const claim = store.claim.bind(store);
    store.claim = async (request) => {
      const claimed = await claim(request);
      await new Promise<void>((resolve) => clock.setTimeout(resolve, 200));
      return claimed;
    };
    const jobs = jobsOver(store, clock, new Patient());
    await jobs.dispatch(counted, 1);
    await jobs.beginWork("worker");
    const countsAtEnd = jobs.endWork(1000).then(() => store.counts());
    await clock.advanceAsync(300);

    expect(await countsAtEnd).to.deep.equal({ waiting: 1, running: 0, dead: 0 });
    const request = { worker: "next", queues: undefined, limit: 1, leaseMs: 1000 };
    expect((await claim(request)).map(({ attempt }) => attempt)).to.deep.equal([1]);
  });
});

/** Refuses or fails some of the marks before last attempts. */
class Marks extends MemoryJobs {
  readonly seen: (readonly string[])[] = [];
  failures = 0;
  refuses = false;

  override async markStarted(claims: readonly JobClaim[]): Promise<readonly JobClaim[]> {
    this.seen.push(claims.map(({ id }) => id));
    if (this.failures-- > 0) throw new Error("no answer");
    return this.refuses ? claims : super.markStarted(claims);
  }
}

describe("a last attempt", () => {
  const once = job<number>("once", undefined, { attempts: 1 });

  async function marked(change: Partial<Pick<Marks, "failures" | "refuses">>, ...jobs: readonly Job<number>[]) {
    const clock = new FakeClock();
    const store = Object.assign(new Marks({ clock }), change);
    let runs = 0;
    const run = () => void (runs += 1);
    const worker = new Jobs({ store });
    const instances = [createHandler(once, run), createHandler(counted, run)];
    worker.prepare({ name: "jobs", clock, metrics: new Metrics(), instances: () => instances });
    for (const each of jobs) await worker.dispatch(each, 1);
    await worker.beginWork("worker");
    await clock.advanceAsync(500);
    const early = runs;
    await clock.advanceAsync(5000);
    await worker.endWork(0);
    return { marks: store.seen.map(({ length }) => length), early, runs };
  }

  it("is marked before its handler starts, in one call for all jobs that start together", async () => {
    expect(await marked({}, once, once, once)).to.deep.equal({ marks: [3], early: 3, runs: 3 });
  });

  it("waits while the store fails, and does not start if the store refuses its mark", async () => {
    expect(await marked({ failures: 2 }, once)).to.deep.equal({ marks: [1, 1, 1], early: 0, runs: 1 });
    expect(await marked({ refuses: true }, once)).to.deep.include({ early: 0, runs: 0 });
  });

  it("has a mark, and a job with attempts left costs no further statement", async () => {
    expect(await marked({}, counted)).to.deep.equal({ marks: [], early: 1, runs: 1 });
  });
});

describe("the pause of jobs without a handler", () => {
  it("is half a minute, and grows with their number, so that they become due one after the other", () => {
    const clock = new FakeClock();
    const pauses = new UnhandledPauses(clock);
    expect(Array.from({ length: 3 }, () => pauses.next(500))).to.deep.equal([30_000, 30_000, 30_000]);
    for (let each = 0; each < 196; each++) pauses.next(500);
    expect(pauses.next(500)).to.equal(300_000);
    clock.advance(290_000);
    expect(pauses.next(1)).to.equal(30_000);
    expect(pauses.next(10_000_000)).to.equal(3_600_000);
  });
});
