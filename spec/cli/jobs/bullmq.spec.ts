/** The commands of jobs with BullMQ on a Redis server: alone, and with rows of a database that the relay moves. */
import { SystemClock } from "@stagecraft/framework";
import { Jobs } from "@stagecraft/framework/jobs";
import { BullJobs } from "@stagecraft/framework/jobs/bullmq";
import { Metrics } from "@stagecraft/framework/observe";
import { expect } from "chai";
import { needRedis, RedisServer } from "../../support/redis-server.js";
import { until } from "../../support/until.js";
import { jobsFolder, openJobs, SQLITE, welcome, type OpenJobs } from "./jobs-folder.js";
import { Worker } from "./worker.js";

const provideJobs = (url: string, more = ""): string =>
  `provide(Jobs).useFactory((resolve) => new Jobs({ store: new BullJobs({ url: ${JSON.stringify(url)}${more} }) }))`;

/** Dispatches from the process of the spec. */
async function openBullJobs(url: string): Promise<OpenJobs> {
  const jobs = new Jobs({ store: new BullJobs({ url }), inWebProcess: false });
  jobs.prepare({ name: "Jobs", clock: new SystemClock(), metrics: new Metrics(), instances: () => [] });
  await jobs.start();
  return { jobs, [Symbol.asyncDispose]: () => jobs.stop() };
}

describe("the commands of jobs on BullMQ", function () {
  this.timeout(120_000);
  this.slow(10_000);
  before(function () {
    needRedis(this);
  });

  it("list, show, pause, resume, cancel and retry jobs beside a worker, which drains at SIGTERM", async () => {
    await using server = await RedisServer.start();
    using folder = jobsFolder({ ...SQLITE, jobs: provideJobs(server.url) });
    await folder.call("migrate");
    await using open = await openBullJobs(server.url);
    const none = await folder.call("jobs", "list");
    await folder.call("jobs", "pause", "mail", "--by", "ada");
    const [waiting, running, dead] = await open.jobs.dispatchAll(welcome, ["removed", "waits", "dies"]);
    await open.jobs.dispatch(welcome, "last", { queue: "bulk", priority: 7 });
    await open.jobs.dispatch(welcome, "later", { queue: "later", delay: 3_600_000 });

    const listed = await folder.call("jobs", "list");
    const shown = await folder.call("jobs", "show", waiting?.id ?? "", "--payload");
    const removed = await folder.call("jobs", "cancel", waiting?.id ?? "");
    await using worker = new Worker(folder, "--queue", "mail");
    await worker.says("works the queues mail");
    const resumed = await folder.call("jobs", "resume", "mail");
    await worker.says("begins waits");
    await until(async () => (await open.jobs.counts()).dead === 1);
    const beside = JSON.parse((await folder.call("jobs", "list", "--json")).stdout);
    const asked = await folder.call("jobs", "cancel", running?.id ?? "");
    await worker.says("ends waits");
    worker.kill("SIGTERM");
    const end = await worker.ended;
    const retried = await folder.call("jobs", "retry", "--dead");
    const gone = await folder.call("jobs", "cancel", running?.id ?? "");

    expect(none).to.deep.equal({ code: 0, stdout: "no jobs\n", stderr: "" });
    expect(listed.stderr).to.equal("");
    expect(listed.stdout).to.match(/^mail +3 +0 +0 +due for \d+ s +paused by ada since \S+$/m);
    expect(listed.stdout).to.match(/^bulk +1 +0 +0 +due for \d+ s$/m);
    expect(listed.stdout).to.match(/^later +1 +0 +0 +due in 59 min$/m);
    expect(shown.stdout)
      .to.match(/^state +waiting$/m)
      .and.match(/^payload +"removed"$/m);
    expect(removed.stdout).to.match(/^removed: /);
    expect(resumed.stdout).to.equal("mail is worked again\n");
    expect(beside.queues).to.have.length(3);
    expect(beside.queues[0]).to.include({ queue: "bulk", waiting: 1, running: 0, dead: 0 });
    expect(beside.queues[1]).to.include({ queue: "later", waiting: 1, running: 0, dead: 0 });
    expect(beside.queues[2])
      .to.include({ queue: "mail", waiting: 0, running: 1, dead: 1 })
      .and.not.have.property("hasWorker");
    expect(asked.stdout).to.match(/^asked: /);
    expect(end.code).to.equal(0);
    expect(retried.stdout).to.equal("1 dead letter runs again\n");
    expect(gone.code).to.equal(1);
    expect(await open.jobs.show(dead?.id ?? "")).to.include({ state: "waiting", attempt: 0 });
    expect(await open.jobs.counts()).to.deep.equal({ waiting: 3, running: 0, dead: 0 });
  });

  it("drain what is due, and exit with 1 for a dead letter", async () => {
    await using server = await RedisServer.start();
    using folder = jobsFolder({ ...SQLITE, jobs: provideJobs(server.url) });
    await folder.call("migrate");
    await using open = await openBullJobs(server.url);
    await open.jobs.dispatchAll(welcome, ["one", "is slow", "dies"]);
    await open.jobs.dispatch(welcome, "later", { delay: 3_600_000 });
    await open.jobs.dispatch(welcome, "paused", { queue: "bulk" });
    await open.jobs.pause("bulk", { by: "ada" });

    const { code, stdout, stderr } = await folder.run("jobs", "drain");

    expect(code).to.equal(1);
    expect(stdout).to.include("ends one").and.include("ends is slow");
    expect(stdout).to.not.include("later").and.not.include("paused");
    expect(stderr).to.include("1 job is a dead letter").and.include("jobs retry");
    expect(await open.jobs.counts()).to.deep.equal({ waiting: 2, running: 0, dead: 1 });
  });

  it("count and list the rows that no relay has moved, and work them", async () => {
    await using server = await RedisServer.start();
    using folder = jobsFolder({ ...SQLITE, jobs: provideJobs(server.url, ", database: resolve(ShopDatabase)") });
    await using rows = await openJobs(folder);
    await using open = await openBullJobs(server.url);
    const row = await rows.jobs.dispatch(welcome, "row");
    const moved = await open.jobs.dispatch(welcome, "moved");

    const before = await folder.call("jobs", "list", "--json");
    const { code, stdout } = await folder.run("jobs", "drain");
    const after = await folder.call("jobs", "list");

    const { queues, jobs } = JSON.parse(before.stdout);
    expect(queues[0]).to.include({ queue: "mail", waiting: 2, running: 0, dead: 0 });
    expect(jobs.map(({ id }: { readonly id: string }) => id)).to.have.members([row.id, moved.id]);
    expect(code).to.equal(0);
    expect(stdout).to.include("ends row").and.include("ends moved");
    expect(after.stdout).to.equal("no jobs\n");
  });

  it("say that Redis is away, without its password", async () => {
    using folder = jobsFolder({ ...SQLITE, jobs: provideJobs("redis://owner:canary@127.0.0.1:1") });
    await folder.call("migrate");

    const [listed, worked] = await Promise.all([folder.run("jobs", "list"), folder.run("jobs", "work")]);

    expect(listed).to.include({
      code: 1,
      stdout: "",
      stderr:
        "the store of Jobs cannot be reached: Redis does not respond: a job that is dispatched now may not be queued.\n" +
        "  fix: start it, and check the variable with its address and user; stagecraft doctor says more\n",
    });
    expect(worked.code).to.equal(1);
    expect(worked.stderr).to.include("jobs failed to start").and.include("fix: ").and.not.include("canary");
  });
});
