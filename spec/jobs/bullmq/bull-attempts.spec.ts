/** The attempts of jobs in BullMQ whose starts reached no worker, or whose worker died. */
import { EventEmitter, once } from "node:events";
import { SystemClock } from "@stagecraft/framework";
import { Handles, job, type JobContext, Jobs } from "@stagecraft/framework/jobs";
import { BullJobs } from "@stagecraft/framework/jobs/bullmq";
import { Metrics } from "@stagecraft/framework/observe";
import { Worker } from "bullmq";
import { expect } from "chai";
import { Redis } from "ioredis";
import { needRedis, RedisServer } from "../../support/redis-server.js";
import { until } from "../../support/until.js";

const single = job<number>("single", undefined, { attempts: 1 });
const PREFIX = "framework";

class Handler {
  readonly attempts: number[] = [];
  gate: Promise<unknown> = Promise.resolve();
  failures = 0;

  @Handles(single)
  async run(_: number, { attempt, signal }: JobContext): Promise<void> {
    this.attempts.push(attempt);
    await Promise.race([this.gate, once(signal, "abort").then(() => Promise.reject(signal.reason as Error))]);
    if (this.failures-- > 0) throw new Error("not yet");
  }
}

class Instance implements AsyncDisposable {
  readonly handler = new Handler();
  readonly jobs: Jobs;

  constructor(url: string) {
    this.jobs = new Jobs({ store: new BullJobs({ url }), queues: ["default"] });
    const host = { name: "jobs", clock: new SystemClock(), metrics: new Metrics() };
    this.jobs.prepare({ ...host, instances: () => [this.handler] });
  }

  static async start(url: string): Promise<Instance> {
    const instance = new Instance(url);
    await instance.jobs.start();
    return instance;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.jobs.endWork(0);
    await this.jobs.stop();
  }
}

async function isIdle({ jobs }: Instance): Promise<boolean> {
  const { waiting, running } = await jobs.counts();
  return waiting + running === 0;
}

describe("a job of one attempt in BullMQ", function () {
  this.timeout(60_000);
  this.slow(10_000);
  let server: RedisServer;
  let redis: Redis;
  before(async function () {
    needRedis(this);
    server = await RedisServer.start();
    redis = new Redis(server.url);
  });
  beforeEach(() => server.clear());
  after(async () => {
    redis?.disconnect();
    await server?.kill();
  });

  /** Redis after the worker of the job was silent for longer than its lock. */
  async function stall(id: string): Promise<void> {
    await redis.del(`${PREFIX}:default:${id}:lock`, `${PREFIX}:default:stalled-check`);
    await redis.sadd(`${PREFIX}:default:stalled`, id);
  }

  /** Redis has started the job, and the response reaches no worker. */
  async function startWithoutResponse(id: string): Promise<void> {
    const worker = new Worker("default", undefined, { connection: { url: server.url }, prefix: PREFIX });
    const started = await worker.getNextJob("lost");
    await worker.close();
    expect(started?.id).to.equal(id);
    await stall(id);
  }

  it("runs after starts whose responses reached no worker", async () => {
    await using instance = await Instance.start(server.url);
    const { id } = await instance.jobs.dispatch(single, 1);
    await startWithoutResponse(id);
    await instance.jobs.beginWork("worker");
    await until(() => instance.handler.attempts.length > 0);
    await until(() => isIdle(instance));

    expect(instance.handler.attempts).to.deep.equal([1]);
    expect(await instance.jobs.counts()).to.deep.equal({ waiting: 0, running: 0, dead: 0 });
  });

  it("is a dead letter after its worker died in that attempt, and runs again when it is retried", async () => {
    await using first = await Instance.start(server.url);
    await using second = await Instance.start(server.url);
    const gate = new EventEmitter();
    first.handler.gate = once(gate, "open");
    const { id } = await first.jobs.dispatch(single, 1);
    await first.jobs.beginWork("worker");
    await until(() => first.handler.attempts.length > 0);
    await stall(id);
    await second.jobs.beginWork("worker");
    await until(async () => (await second.jobs.counts()).dead === 1);
    const dead = await second.jobs.dead();
    const runs = second.handler.attempts.length;
    gate.emit("open");
    await first.jobs.endWork(1000);
    await second.jobs.retry(id);
    await until(() => second.handler.attempts.length > 0);
    await until(() => isIdle(second));

    expect(dead.map((each) => [each.id, each.reason])).to.deep.equal([[id, "the worker died, or its lease ended"]]);
    expect(runs).to.equal(0);
    expect(second.handler.attempts).to.deep.equal([1]);
    expect(await second.jobs.counts()).to.deep.equal({ waiting: 0, running: 0, dead: 0 });
  });

  it("keeps its attempt if the process stops during it, also if the next start reaches no worker", async () => {
    await using first = await Instance.start(server.url);
    await using second = await Instance.start(server.url);
    first.handler.gate = new Promise(() => {});
    const { id } = await first.jobs.dispatch(single, 1);
    await first.jobs.beginWork("worker");
    await until(() => first.handler.attempts.length > 0);
    await first.jobs.endWork(0);
    await startWithoutResponse(id);
    await second.jobs.beginWork("worker");
    await until(() => second.handler.attempts.length > 0);
    await until(() => isIdle(second));

    expect([...first.handler.attempts, ...second.handler.attempts]).to.deep.equal([1, 1]);
    expect(await second.jobs.counts()).to.deep.equal({ waiting: 0, running: 0, dead: 0 });
  });

  it("is a dead letter after a failure of that attempt, with the reason of the failure", async () => {
    await using instance = await Instance.start(server.url);
    instance.handler.failures = 1;
    const { id } = await instance.jobs.dispatch(single, 1);
    await startWithoutResponse(id);
    await instance.jobs.beginWork("worker");
    await until(async () => (await instance.jobs.counts()).dead === 1);

    expect(await instance.jobs.dead()).to.have.lengthOf(1);
    expect((await instance.jobs.dead())[0]).to.include({ id, attempt: 1, reason: "not yet" });
  });
});
