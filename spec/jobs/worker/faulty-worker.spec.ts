/** Worker processes over PostgreSQL that are stopped by SIGSTOP for longer than their lease and continued, or killed by their job. */
import { SystemClock } from "@stagecraft/framework";
import { postgres } from "@stagecraft/framework/db/postgres";
import { DatabaseJobs, job, Jobs } from "@stagecraft/framework/jobs";
import { Metrics } from "@stagecraft/framework/observe";
import { expect } from "chai";
import { Child } from "../../support/child.js";
import { needs } from "../../support/machine.js";
import { PostgresServer } from "../../support/postgres-server.js";
import { type JobsDatabase, jobsDatabase, makeTables } from "../jobs-database.js";

const patient = job("patient");
const poisoned = job("poisoned", undefined, { attempts: 2 });
const LEASE_MS = 300_000;

describe("a worker process", function () {
  this.timeout(60_000);
  this.slow(10_000);
  let server: PostgresServer;
  let db: JobsDatabase;
  let store: DatabaseJobs;
  let jobs: Jobs;
  before(needs("postgres"));
  before(async () => {
    server = await PostgresServer.borrow();
    const clock = new SystemClock();
    db = await jobsDatabase(postgres({ url: server.url }), clock);
    await makeTables(db);
    store = new DatabaseJobs(db);
    jobs = new Jobs({ store });
    jobs.prepare({ name: "jobs", clock, metrics: new Metrics(), instances: () => [] });
  });
  after(async () => {
    await db?.stop();
    await server?.[Symbol.asyncDispose]();
  });

  const start = (): Promise<Child> => Child.start("../jobs/worker/faulty-worker-process.js", { DATABASE: server.url });

  /** The time of a lease, and that without a sign of life. */
  async function passLease(): Promise<void> {
    await server.run(`UPDATE framework_jobs SET leased_until = leased_until - ${LEASE_MS}`);
    await server.run(`UPDATE framework_job_workers SET beat_at = beat_at - ${LEASE_MS}`);
  }

  it("that was suspended for longer than its lease cannot complete the job that another process has claimed since", async () => {
    await using child = await start();
    const { id } = await jobs.dispatch(patient);
    await child.says("begins with 1");
    child.kill("SIGSTOP");
    await passLease();
    await store.heartbeat({ id: "other", names: [], queues: undefined });
    const reaped = await store.reap(30_000);
    const claims = await store.claim({ worker: "other", queues: undefined, limit: 1, leaseMs: LEASE_MS });
    // The handler ends as soon as the process runs again.
    child.kill("SIGUSR2");
    child.kill("SIGCONT");
    await child.says("ends with 1");
    await child.says("job lease lost", "errors");
    const held = await jobs.counts();
    const refused = await store.complete(claims);

    expect(reaped.map((each) => each.id)).to.deep.equal([id]);
    expect(claims.map(({ token, attempt }) => ({ token, attempt }))).to.deep.equal([{ token: 2, attempt: 2 }]);
    expect(held).to.deep.equal({ waiting: 0, running: 1, dead: 0 });
    expect(refused).to.deep.equal([]);
    expect(await jobs.counts()).to.deep.equal({ waiting: 0, running: 0, dead: 0 });
  });

  it("that dies in its job costs the job an attempt, and after the last attempt the job is a dead letter", async () => {
    const { id } = await jobs.dispatch(poisoned);
    for (let attempt = 1; attempt <= 2; attempt++) {
      await using child = await start();
      await child.exitCode();
      await passLease();
      // A process that has just begun takes no other for dead.
      if (attempt === 1) await store.reap(30_000);
    }
    const reaped = await store.reap(30_000);
    const [letter] = await jobs.dead();

    expect(reaped).to.deep.equal([
      { id, name: "poisoned", queue: "default", attempt: 2, isDead: true, reason: letter?.reason },
    ]);
    expect(letter).to.include({ id, attempt: 2, reason: "the worker died, or its lease ended" });
  });
});
