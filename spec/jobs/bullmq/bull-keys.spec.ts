/** Jobs with a key in BullMQ: waiting ones that are replaced by several processes, while workers take them, and by a process that dies. */
import { SystemClock } from "@stagecraft/framework";
import { Handles, job, Jobs } from "@stagecraft/framework/jobs";
import { BullJobs } from "@stagecraft/framework/jobs/bullmq";
import { Metrics } from "@stagecraft/framework/observe";
import { expect } from "chai";
import { Child } from "../../support/child.js";
import { needRedis, RedisServer } from "../../support/redis-server.js";
import { until } from "../../support/until.js";

const keyed = job<string>("keyed");
const HOUR_MS = 3_600_000;
const COUNT = 300;
const ENOUGH = 20;

class Recorder {
  readonly seen: string[] = [];
  readonly attempts: number[] = [];
  failures = 0;
  /** Called at the begin of each run. */
  before: () => unknown = () => {};

  @Handles(keyed)
  record(payload: string, { attempt }: { readonly attempt: number }): void {
    this.before();
    this.seen.push(payload);
    this.attempts.push(attempt);
    if (this.failures-- > 0) throw new Error("not yet");
  }
}

class Instance implements AsyncDisposable {
  readonly recorder = new Recorder();
  readonly jobs: Jobs;

  private constructor(url: string) {
    this.jobs = new Jobs({ store: new BullJobs({ url }), concurrency: 2, queues: ["default"] });
    const host = { name: "jobs", clock: new SystemClock(), metrics: new Metrics() };
    this.jobs.prepare({ ...host, instances: () => [this.recorder] });
  }

  static async start(url: string): Promise<Instance> {
    const instance = new Instance(url);
    await instance.jobs.start();
    return instance;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.jobs.endWork(1000);
    await this.jobs.stop();
  }
}

describe("jobs with one key in BullMQ", function () {
  this.timeout(120_000);
  this.slow(10_000);
  let server: RedisServer;
  before(async function () {
    needRedis(this);
    server = await RedisServer.start();
  });
  beforeEach(() => server.clear());
  after(() => server?.kill());

  it("are one waiting job while two processes replace it, also after one of the processes is killed", async () => {
    await using own = await Instance.start(server.url);
    await using child = await Child.start("../jobs/bullmq/dispatch-process.js", { REDIS: server.url });
    await until(() => child.output.includes("\n"));
    const confirmed = (): number => child.output.split("\n").length;
    const outcomes = new Set<string>();
    for (const enough = confirmed() + ENOUGH; confirmed() < enough;) {
      const { outcome } = await own.jobs.dispatch(keyed, "own", { key: "k", delay: HOUR_MS });
      outcomes.add(outcome);
    }
    child.kill("SIGKILL");
    await child[Symbol.asyncDispose]();
    const counts = await own.jobs.counts();
    await own.jobs.dispatch(keyed, "last", { key: "k" });
    await own.jobs.beginWork("worker");
    await until(async () => (await own.jobs.counts()).waiting === 0 && own.recorder.seen.length > 0);

    expect([...outcomes]).to.deep.equal(["replaced"]);
    expect(counts).to.include({ waiting: 1, running: 0 });
    expect(own.recorder.seen).to.deep.equal(["last"]);
  });

  it("run once for each created job, and the last payload runs, while workers claim them", async () => {
    await using dispatcher = await Instance.start(server.url);
    await using other = await Instance.start(server.url);
    await using worker = await Instance.start(server.url);
    await worker.jobs.beginWork("worker");
    let created = 0;
    const dispatch = async ({ jobs }: Instance, payload: string): Promise<void> => {
      const { outcome } = await jobs.dispatch(keyed, payload, { key: "k" });
      if (outcome === "created") created += 1;
    };
    const dispatchAll = async (instance: Instance, name: string): Promise<void> => {
      for (let number = 0; number < COUNT; number++) await dispatch(instance, `${name} ${number}`);
    };
    await Promise.all([dispatchAll(dispatcher, "one"), dispatchAll(other, "other")]);
    await dispatch(dispatcher, "last");
    const { seen } = worker.recorder;
    await until(() => seen.includes("last"));
    await until(async () => (await worker.jobs.counts()).waiting + (await worker.jobs.counts()).running === 0);

    expect(seen).to.have.lengthOf(created);
    expect(new Set(seen)).to.have.lengthOf(created);
  });

  it("run at the earlier time, and wake a waiting worker", async () => {
    await using instance = await Instance.start(server.url);
    const { jobs, recorder } = instance;
    await jobs.beginWork("worker");
    await jobs.dispatch(keyed, "first", { key: "k", delay: HOUR_MS });
    // A process that is stopped for seconds dispatches the third one before the time all the same.
    await jobs.dispatch(keyed, "second", { key: "k", delay: 5000 });
    const later = await jobs.dispatch(keyed, "third", { key: "k", delay: 2 * HOUR_MS });
    await until(() => recorder.seen.length > 0);

    expect(later.outcome).to.equal("replaced");
    expect(recorder.seen).to.deep.equal(["third"]);
  });

  it("keep the count of their attempts when they are replaced before the next attempt", async () => {
    await using first = await Instance.start(server.url);
    await using next = await Instance.start(server.url);
    // Its worker takes no further job from the first run on, however long the replacement takes.
    let ended: Promise<void> | undefined;
    first.recorder.before = () => (ended = first.jobs.endWork(60_000));
    first.recorder.failures = 1;
    await first.jobs.beginWork("worker");
    await first.jobs.dispatch(keyed, "first", { key: "k" });
    await until(() => ended !== undefined);
    await ended;
    const { outcome } = await next.jobs.dispatch(keyed, "second", { key: "k" });
    await next.jobs.beginWork("worker");
    await until(() => next.recorder.seen.length === 1);

    expect(outcome).to.equal("replaced");
    expect([...first.recorder.seen, ...next.recorder.seen]).to.deep.equal(["first", "second"]);
    expect([...first.recorder.attempts, ...next.recorder.attempts]).to.deep.equal([1, 2]);
  });
});
