/** `jobs work` and `jobs drain` as processes, on SQLite, PostgreSQL and MariaDB, and the other commands beside them. */
import { mysql } from "@stagecraft/framework/db/mysql";
import { postgres } from "@stagecraft/framework/db/postgres";
import type { DatabaseDriver } from "@stagecraft/framework/db";
import { expect } from "chai";
import { needs, type Program } from "../../support/machine.js";
import { MariadbServer } from "../../support/mariadb-server.js";
import { PostgresServer } from "../../support/postgres-server.js";
import { until } from "../../support/until.js";
import { jobsFolder, openJobs, unheard, welcome } from "./jobs-folder.js";
import { Worker } from "./worker.js";

describe("jobs work", function () {
  this.timeout(60_000);
  this.slow(5000);

  it("says that it works, without HTTP, and lets a running job end at SIGTERM", async () => {
    using folder = jobsFolder();
    await using open = await openJobs(folder);
    await using worker = new Worker(folder, "--concurrency", "3", "--queue", "mail,bulk");
    await worker.says("works the queues mail, bulk, at most 3 jobs at once");
    await open.jobs.dispatch(welcome, "is slow");
    await worker.says("begins is slow");
    worker.kill("SIGTERM");

    expect(await worker.ended).to.deep.equal({ code: 0, signal: null });
    expect(worker.stdout).to.equal("mailer starts\nbegins is slow\nends is slow\n");
    expect(worker.stderr).to.not.include("listening");
    expect(await open.jobs.counts()).to.deep.equal({ waiting: 0, running: 0, dead: 0 });
  });

  it("leaves the jobs of other queues", async () => {
    using folder = jobsFolder();
    await using open = await openJobs(folder);
    await using worker = new Worker(folder, "--queue", "mail");
    await open.jobs.dispatch(welcome, "other", { queue: "bulk" });
    await open.jobs.dispatch(welcome, "one");
    await worker.says("ends one");
    worker.kill("SIGINT");

    expect((await worker.ended).code).to.equal(0);
    expect(worker.stdout).to.not.include("other");
    expect(await open.jobs.counts()).to.deep.equal({ waiting: 1, running: 0, dead: 0 });
  });

  it("ends at once at a second signal, and after kill -9 the job is still there", async () => {
    using folder = jobsFolder();
    await using open = await openJobs(folder);
    const { id } = await open.jobs.dispatch(welcome, "hangs");
    await using first = new Worker(folder);
    await first.says("begins hangs");
    first.kill("SIGTERM");
    await first.says("signal received");
    first.kill("SIGINT");
    const second = await first.ended;
    await using killed = new Worker(folder);
    await killed.says("works all queues");
    killed.kill("SIGKILL");

    expect(second).to.deep.equal({ code: 130, signal: null });
    expect(await killed.ended).to.deep.equal({ code: null, signal: "SIGKILL" });
    expect(await open.jobs.show(id)).to.include({ state: "running", attempt: 1 });
  });

  it("says why it does not start where the database is away", async () => {
    using folder = jobsFolder({
      driver: "postgres",
      url: `{ url: "postgres://owner:canary@127.0.0.1:1/shop", pool: { waitMs: 500 } }`,
    });

    const { code, stderr } = await folder.run("jobs", "work");

    expect(code).to.equal(1);
    expect(stderr).to.include("cannot connect to 127.0.0.1:1/shop").and.include("fix: ").and.not.include("canary");
  });
});

describe("jobs drain", function () {
  this.timeout(60_000);
  this.slow(5000);

  it("works what is due, and leaves delayed jobs and paused queues", async () => {
    using folder = jobsFolder();
    await using open = await openJobs(folder);
    await open.jobs.dispatchAll(welcome, ["one", "two", "is slow"]);
    await open.jobs.dispatch(welcome, "later", { delay: 3_600_000 });
    await open.jobs.dispatch(welcome, "paused", { queue: "bulk" });
    await open.jobs.pause("bulk", { by: "ada" });

    const { code, stdout } = await folder.run("jobs", "drain");

    expect(code).to.equal(0);
    expect(stdout).to.include("ends one").and.include("ends two").and.include("ends is slow");
    expect(stdout).to.not.include("later").and.not.include("paused");
    expect(await open.jobs.counts()).to.deep.equal({ waiting: 2, running: 0, dead: 0 });
  });

  it("exits with 1 if a job becomes a dead letter, and has worked the others", async () => {
    using folder = jobsFolder();
    await using open = await openJobs(folder);
    await open.jobs.dispatchAll(welcome, ["dies", "one"]);

    const { code, stdout, stderr } = await folder.run("jobs", "drain");

    expect(code).to.equal(1);
    expect(stdout).to.include("ends one");
    expect(stderr).to.include("1 job is a dead letter").and.include("jobs retry");
  });
});

interface Engine {
  readonly program: Program;
  readonly start: () => Promise<AsyncDisposable & { readonly url: string }>;
  readonly driver: (url: string) => DatabaseDriver;
  readonly entry: string;
}

const ENGINES: Readonly<Record<string, Engine>> = {
  PostgreSQL: {
    program: "postgres",
    start: () => PostgresServer.borrow(),
    driver: (url) => postgres({ url }),
    entry: "postgres",
  },
  MariaDB: {
    program: "mariadbd",
    start: () => MariadbServer.borrow(),
    driver: (url) => mysql({ url }),
    entry: "mysql",
  },
};

for (const [name, { program, start, driver, entry }] of Object.entries(ENGINES)) {
  describe(`the commands of jobs on ${name}`, function () {
    this.timeout(120_000);
    this.slow(10_000);
    let server: AsyncDisposable & { readonly url: string };

    before(needs(program));
    before(async () => {
      server = await start();
    });
    after(() => server[Symbol.asyncDispose]());

    it("list, pause, resume, cancel and retry jobs beside a worker, which drains at SIGTERM", async () => {
      using folder = jobsFolder({ driver: entry, url: JSON.stringify({ url: server.url }) });
      await using open = await openJobs(folder, driver(server.url));
      await folder.call("jobs", "pause", "mail", "--by", "ada");
      const [waiting, running, dead] = await open.jobs.dispatchAll(welcome, ["removed", "waits", "dies"]);
      await open.jobs.dispatch(welcome, "last", { queue: "bulk", priority: 7 });

      const listed = await folder.call("jobs", "list");
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

      expect(listed.stdout).to.match(/^mail +3 +0 +0 +due for \d s +paused by ada since .*, no process works it$/m);
      expect(listed.stdout).to.match(/^bulk +1 +0 +0 +due for \d s +no process works it$/m);
      expect(removed.stdout).to.match(/^removed: /);
      expect(resumed.stdout).to.equal("mail is worked again\n");
      expect(beside.queues[0]).to.include({ queue: "bulk", waiting: 1, running: 0, dead: 0, hasWorker: false });
      expect(beside.queues[1]).to.include({ queue: "mail", waiting: 0, running: 1, dead: 1, hasWorker: true });
      expect(asked).to.include({ code: 0 });
      expect(asked.stdout).to.match(/^asked: /);
      expect(end.code).to.equal(0);
      expect(retried.stdout).to.equal("1 dead letter runs again\n");
      expect(await open.jobs.show(dead?.id ?? "")).to.include({ state: "waiting", attempt: 0 });
      expect(await open.jobs.counts()).to.deep.equal({ waiting: 2, running: 0, dead: 0 });
    });

    it("say which name no process handles", async () => {
      using folder = jobsFolder({ driver: entry, url: JSON.stringify({ url: server.url }) });
      await using open = await openJobs(folder, driver(server.url));
      await using worker = new Worker(folder, "--queue", "strange");
      await worker.says("works the queues strange");
      await open.jobs.dispatch(unheard, undefined, { queue: "strange" });

      const { stdout } = await folder.call("jobs", "list", "--queue", "strange");

      expect(stdout).to.include("no process handles mail.unheard, which waits in strange");
    });
  });
}
