import { writeFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect } from "chai";
import { Child } from "../../support/child.js";
import { listening } from "../../support/listening.js";
import { newFolder } from "../../support/new-folder.js";
import { until } from "../../support/until.js";
import { isAlive, kill, WorkersUnderTest } from "./workers-under-test.js";

describe("the parent of workers", () => {
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    it(`drains all workers after ${signal} and ends with 0`, async () => {
      await using workers = await WorkersUnderTest.start(2);
      const pids = workers.listPids();
      const slow = Promise.all([workers.ask("/slow"), workers.ask("/slow")]);
      await workers.ask("/pid");

      workers.parent.kill(signal);

      expect((await slow).map(({ status }) => status)).to.deep.equal([200, 200]);
      expect(await workers.parent.exitCode()).to.equal(0);
      expect(pids).to.have.length(2);
      expect(pids.filter(isAlive)).to.deep.equal([]);
    });
  }

  it("ends the workers at a Ctrl-C, which the terminal sends to all processes", async () => {
    await using workers = await WorkersUnderTest.start(2);
    const pids = workers.listPids();
    const slow = workers.ask("/slow");
    await workers.ask("/pid");

    for (const pid of pids) kill(pid, "SIGINT");
    workers.parent.kill("SIGINT");

    expect((await slow).status).to.equal(200);
    expect(await workers.parent.exitCode()).to.equal(0);
  });

  it("ends with 0 if the service manager sends SIGTERM to all processes", async () => {
    await using workers = await WorkersUnderTest.start(2);
    const slow = workers.ask("/slow");
    await workers.ask("/pid");

    for (const pid of workers.listPids()) kill(pid, "SIGTERM");
    workers.parent.kill("SIGTERM");

    expect((await slow).status).to.equal(200);
    expect(await workers.parent.exitCode()).to.equal(0);
    expect(workers.log.split("worker ready")).to.have.length(3);
  });

  it("ends workers that have not served yet, and counts no lost metrics of them", async () => {
    await using workers = await WorkersUnderTest.spawn(2);
    await workers.says("starting workers");

    workers.parent.kill("SIGTERM");

    expect(await workers.parent.exitCode()).to.equal(0);
    expect(workers.log).to.not.match(/ERROR|WARN/);
  });

  it("ends all at once at the second signal", async () => {
    await using workers = await WorkersUnderTest.start(2);
    const pids = workers.listPids();
    workers.ask("/slow").catch(() => undefined);
    workers.parent.kill("SIGTERM");
    await workers.says("signal received");

    workers.parent.kill("SIGINT");

    expect(await workers.parent.exitCode()).to.equal(130);
    await until(() => !pids.some(isAlive));
  });

  it("leaves workers that drain and end if it is killed", async () => {
    await using workers = await WorkersUnderTest.start(2);
    const pids = workers.listPids();
    const slow = workers.ask("/slow");
    await workers.ask("/pid");

    workers.parent.kill("SIGKILL");

    expect((await slow).status).to.equal(200);
    await until(() => !pids.some(isAlive));
    expect(pids).to.have.length(2);
    // Less than the 30 s that a request to the parent may take.
  }).timeout(25_000);

  it("ends with 1 if a worker must be killed at the deadline", async () => {
    await using workers = await WorkersUnderTest.start(2);
    const [stopped = 0] = workers.listPids();
    kill(stopped, "SIGSTOP");

    workers.parent.kill("SIGTERM");

    expect(await workers.parent.exitCode()).to.equal(1);
    expect(isAlive(stopped)).to.equal(false);
  });

  it("has a clear error if it cannot have the port", async () => {
    using taken = await listening(createServer());
    await using child = await Child.start("../app/workers/workers-program.js", {}, { port: taken.port });

    expect(await child.exitCode()).to.equal(1);
    expect(child.errors).to.match(/^cannot listen on 127\.0\.0\.1:\d+: the address is in use/m);
    expect(child.output + child.errors).to.not.include("worker ready");
  });

  it("says the port that it has, if it may be any", async () => {
    await using workers = await WorkersUnderTest.spawn(2, { PORT: "0" });
    await workers.areReady(2);
    const [, port] = /at=http:\/\/127\.0\.0\.1:(\d+)/.exec(workers.log) ?? [];

    const response = await fetch(`http://127.0.0.1:${String(port)}/pid`);

    expect(response.status).to.equal(200);
  });

  it("says how many workers there are, and why, also in a program without a log", async () => {
    await using workers = await WorkersUnderTest.spawn(2, { LOG: "none" });
    await workers.says("listening on");

    expect(workers.log).to.match(/^starting 2 workers \(a fixed number\)\n/);
  });

  it("ends with the message of a first worker that does not start", async () => {
    using folder = newFolder();
    writeFileSync(join(folder.path, "refuses"), "");
    await using workers = await WorkersUnderTest.spawn(2, { REFUSES: join(folder.path, "refuses") });

    expect(await workers.parent.exitCode()).to.equal(1);
    expect(workers.log).to.include("the engine does not start");
    expect(workers.log).to.match(/E_WORKERS_START worker \d ended with exit code 1 before it was ready/);
    rmSync(join(folder.path, "refuses"));
  });
});
