/** The commands that read and change jobs, on SQLite. */
import { expect } from "chai";
import { ApplicationFolder } from "../../support/application-folder.js";
import { jobsFolder, openJobs, welcome } from "./jobs-folder.js";

const NO_ID = "01990000-0000-7000-8000-000000000000";

describe("jobs list", () => {
  it("shows no more than that where nothing waits", async () => {
    using folder = jobsFolder();
    await using _ = await openJobs(folder);

    expect(await folder.call("jobs", "list")).to.deep.equal({ code: 0, stdout: "no jobs\n", stderr: "" });
  });

  it("starts nothing but the database of the jobs", async () => {
    using folder = jobsFolder();
    await using _ = await openJobs(folder);

    const { stdout, stderr } = await folder.run("jobs", "list");

    expect(stdout + stderr).to.equal("no jobs\n");
  });

  it("shows the queue whose job has waited longest first, and no payload", async () => {
    using folder = jobsFolder();
    await using open = await openJobs(folder);
    const later = await open.jobs.dispatch(welcome, "secret-payload", { queue: "bulk", delay: 3_600_000 });
    const first = await open.jobs.dispatch(welcome, "secret-payload");

    const { code, stdout } = await folder.call("jobs", "list");

    expect(code).to.equal(0);
    expect(stdout).to.match(/^QUEUE .*\nmail +1 +0 +0 +due for 0 s +no process works it\nbulk +1 +0 +0 +due in 59 min/);
    expect(stdout.indexOf(first.id)).to.be.below(stdout.indexOf(later.id)).and.above(0);
    expect(stdout).to.not.include("secret");
  });

  it("gives the same as JSON, of one queue, state and name, up to a limit", async () => {
    using folder = jobsFolder();
    await using open = await openJobs(folder);
    await open.jobs.dispatch(welcome, "1", { queue: "bulk" });
    const [first] = await open.jobs.dispatchAll(welcome, ["1", "2", "3"]);

    const filter = ["--queue", "mail", "--state", "waiting", "--name", "mail.welcome", "--limit", "1"];
    const { stdout } = await folder.call("jobs", "list", ...filter, "--json");

    const { queues, jobs, unhandled } = JSON.parse(stdout);
    expect(queues).to.have.length(1);
    expect(queues[0]).to.include({ queue: "mail", waiting: 3, running: 0, dead: 0, hasWorker: false });
    expect(jobs).to.have.length(1);
    expect(jobs[0]).to.include({ id: first?.id, name: "mail.welcome", attempt: 0, maxAttempts: 3 });
    expect(unhandled).to.deep.equal([]);
  });

  it("stops counting at 10 000", async () => {
    using folder = jobsFolder();
    await using open = await openJobs(folder);
    await open.jobs.dispatchAll(
      welcome,
      Array.from({ length: 10_002 }, () => "1"),
    );

    const { stdout } = await folder.call("jobs", "list", "--limit", "1");

    expect(stdout)
      .to.match(/^mail +10 000\+ /m)
      .and.include("the first 1 jobs: --limit shows more");
  });

  it("escapes texts that could move the cursor of a terminal", async () => {
    using folder = jobsFolder();
    await using open = await openJobs(folder);
    await open.jobs.dispatch(welcome, "dies");
    await folder.run("jobs", "drain");

    const { stdout } = await folder.call("jobs", "list");

    expect(stdout).to.include("the address\\x1b[31m is gone").and.not.include("\u001b");
  });

  const wrong: readonly (readonly [string, readonly string[], string])[] = [
    ["a queue that no queue is called", ["list", "--queue", "a b"], "cannot be the name of a queue"],
    ["an unknown state", ["list", "--state", "done"], "waiting"],
    ["a limit that is no number", ["list", "--limit", "many"], "not a whole number"],
    ["a limit of ten digits", ["list", "--limit", "1000000000"], "from 1 to 1000"],
    ["a limit above 1000", ["list", "--limit", "1001"], "limit"],
    ["a retry without an id", ["retry"], "--dead"],
    ["a retry of an id and of all", ["retry", NO_ID, "--dead"], "--dead"],
    ["a pause by a control character", ["pause", "mail", "--by", "a\nb"], "control characters"],
    ["a queue of work that no queue is called", ["work", "--queue", "mail,"], "cannot be the name of a queue"],
    ["a concurrency of none", ["work", "--concurrency", "0"], "10000"],
    ["an unknown command", ["lst"], "Did you mean list?"],
    ["no command", [], "Usage: stagecraft jobs"],
    ["unknown Jobs", ["list", "--jobs", "Other"], "--jobs Jobs"],
  ];
  for (const [what, args, message] of wrong) {
    it(`exits with 2 for ${what}`, async () => {
      using folder = jobsFolder();

      const { code, stderr } = await folder.call("jobs", ...args);

      expect(code).to.equal(2);
      expect(stderr).to.include(message);
    });
  }

  it("shows the commands of the group with --help", async () => {
    using folder = jobsFolder();

    const { code, stdout } = await folder.call("jobs", "--help");

    expect(code).to.equal(0);
    expect(stdout).to.include("drain").and.include("resume");
  });
});

describe("jobs show, retry, cancel, pause and resume", () => {
  it("shows one job, and its payload only when asked for", async () => {
    using folder = jobsFolder();
    await using open = await openJobs(folder);
    const { id } = await open.jobs.dispatch(welcome, "12345678901234567890");

    const hidden = await folder.call("jobs", "show", id);
    const shown = await folder.call("jobs", "show", id, "--payload", "--json");
    const none = await folder.call("jobs", "show", NO_ID);

    expect(hidden.stdout).to.include("0 of 3").and.include("payload     hidden: --payload shows it");
    expect(hidden.stdout)
      .to.match(/^dispatched +20\d\d-/m)
      .and.not.include("1234567890");
    expect(JSON.parse(shown.stdout)).to.include({ id, payload: '"12345678901234567890"', state: "waiting" });
    expect(none.code).to.equal(1);
    expect(none.stderr).to.include(NO_ID).and.include("fix: ");
  });

  it("retries one dead letter by its id, and no other job", async () => {
    using folder = jobsFolder();
    await using open = await openJobs(folder);
    const { id } = await open.jobs.dispatch(welcome, "dies");
    const waiting = await open.jobs.dispatch(welcome, "1", { delay: 60_000 });
    const drained = await folder.run("jobs", "drain");

    const retried = await folder.call("jobs", "retry", id);
    const again = await folder.call("jobs", "retry", id);
    const other = await folder.call("jobs", "retry", waiting.id);
    const none = await folder.call("jobs", "retry", NO_ID);

    expect(drained.code).to.equal(1);
    expect(drained.stderr).to.include("1 job is a dead letter");
    expect(retried).to.include({ code: 0, stdout: "1 dead letter runs again\n" });
    expect([again.code, other.code, none.code]).to.deep.equal([1, 1, 1]);
    expect(other.stderr).to.include("it waits");
    expect(await open.jobs.show(id)).to.include({ state: "waiting", attempt: 0 });
  });

  it("retries the dead letters of a name, at most 1000 at a call", async () => {
    using folder = jobsFolder();
    await using open = await openJobs(folder);
    await open.jobs.dispatchAll(
      welcome,
      Array.from({ length: 1002 }, () => "dies"),
    );
    await folder.run("jobs", "drain", "--concurrency", "50");

    const other = await folder.call("jobs", "retry", "--dead", "--name", "mail.other");
    const first = await folder.call("jobs", "retry", "--dead", "--json");
    const second = await folder.call("jobs", "retry", "--dead", "--name", "mail.welcome");

    expect(other.stdout).to.equal("0 dead letters run again\n");
    expect(JSON.parse(first.stdout)).to.deep.equal({ retried: 1000, isMore: true });
    expect(second.stdout).to.equal("2 dead letters run again\n");
    expect(await open.jobs.counts()).to.deep.equal({ waiting: 1002, running: 0, dead: 0 });
  }).timeout(120_000);

  it("cancels a waiting job, and says when there is none", async () => {
    using folder = jobsFolder();
    await using open = await openJobs(folder);
    const { id } = await open.jobs.dispatch(welcome, "1");

    const first = await folder.call("jobs", "cancel", id);
    const second = await folder.call("jobs", "cancel", id, "--json");

    expect(first.code).to.equal(0);
    expect(first.stdout).to.match(/^removed: /);
    expect(second.code).to.equal(1);
    expect(JSON.parse(second.stdout)).to.deep.equal({ id, outcome: "gone" });
  });

  it("pauses a queue with who and since when, and resumes it", async () => {
    using folder = jobsFolder();
    await using open = await openJobs(folder);

    const first = await folder.call("jobs", "pause", "mail", "--by", "ada");
    const second = await folder.call("jobs", "pause", "mail", "--by", "bob");
    const listed = await folder.call("jobs", "list");
    const resumed = await folder.call("jobs", "resume", "mail");
    const again = await folder.call("jobs", "resume", "mail", "--json");

    expect(first).to.include({ code: 0, stdout: "mail is paused; stagecraft jobs resume mail ends it\n" });
    expect(second.stdout).to.match(/^mail was paused already, by ada since 20\d\d-/);
    expect(listed.stdout).to.match(/^mail +0 +0 +0 +paused by ada since 20/m);
    expect(resumed.stdout).to.equal("mail is worked again\n");
    expect(JSON.parse(again.stdout)).to.deep.equal({ queue: "mail", isResumed: false });
    expect(await open.jobs.paused()).to.deep.equal([]);
  });
});

describe("the commands of jobs, where they have no jobs to reach", () => {
  it("say that no jobs are provided", async () => {
    using folder = new ApplicationFolder();

    for (const args of [["list"], ["work"], ["drain"]]) {
      const { code, stderr } = await folder.run("jobs", ...args);

      expect(code).to.equal(1);
      expect(stderr).to.include("the application has no jobs");
    }
  });

  it("say that jobs in memory live in another process", async () => {
    using folder = new ApplicationFolder({
      "app.js": `
        import { Application, provide } from "@stagecraft/framework";
        import { Jobs, MemoryJobs } from "@stagecraft/framework/jobs";
        export default () => Application.create().provide(provide(Jobs).useValue(new Jobs({ store: new MemoryJobs() })));
      `,
    });

    for (const args of [["list"], ["pause", "mail"], ["work"], ["drain"]]) {
      const { code, stderr } = await folder.run("jobs", ...args);

      expect(code).to.equal(1);
      expect(stderr).to.include("memory of the process").and.include("fix: ").and.not.include("    at ");
    }
  });

  it("say that the tables are missing, and that the database is away", async () => {
    using folder = jobsFolder();
    using away = jobsFolder({
      driver: "postgres",
      url: `{ url: "postgres://owner:canary@127.0.0.1:1/shop", pool: { waitMs: 500 } }`,
    });

    const absent = await folder.call("jobs", "list");
    folder.write("shop.db", "");
    const missing = await folder.call("jobs", "list");
    const gone = await away.call("jobs", "list");

    expect(absent.code).to.equal(1);
    expect(absent.stderr).to.include("does not exist yet").and.include("stagecraft migrate");
    expect(missing.code).to.equal(1);
    expect(missing.stderr).to.include("stagecraft migrate");
    expect(gone.code).to.equal(1);
    expect(gone.stderr)
      .to.match(/ShopDatabase cannot be reached: .*127\.0\.0\.1:1.*ECONNREFUSED/)
      .and.include("fix: ")
      .and.not.include("canary");
  });
});

describe("schedule", () => {
  it("lists schedules with their next run, and the last one once there was one", async () => {
    using folder = jobsFolder();
    await using open = await openJobs(folder);
    const before = await folder.call("schedule", "list");
    const tick = Date.parse("2026-01-02T02:00:00Z");
    await open.jobs.operated.store.tick("links.sweep", tick, undefined);

    const after = await folder.call("schedule", "list", "--json");

    expect(before.stdout).to.match(
      /^links\.sweep +0 3 \* \* \* +Europe\/Berlin +default +20\d\d-\d\d-\d\dT0[12]:00:00Z\n$/m,
    );
    const [row] = JSON.parse(after.stdout);
    expect(row).to.include({ name: "links.sweep", cron: "0 3 * * *", timeZone: "Europe/Berlin", lastAt: tick });
    expect(row.nextAt).to.be.above(Date.now());
  });

  it("adds the job of a schedule now, and names the nearest for an unknown one", async () => {
    using folder = jobsFolder();
    await using open = await openJobs(folder);

    const added = await folder.call("schedule", "run", "links.sweep", "--json");
    const unknown = await folder.call("schedule", "run", "link.swep");

    const { id } = JSON.parse(added.stdout);
    const job = await open.jobs.show(id);
    expect(job).to.include({ name: "links.sweep", state: "waiting" });
    expect(JSON.parse(job?.payload ?? "").due).to.match(/^20\d\d-.*Z$/);
    expect(unknown.code).to.equal(1);
    expect(unknown.stderr).to.include("stagecraft schedule run links.sweep");
  });
});
