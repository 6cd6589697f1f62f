import { rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import { expect } from "chai";
import { newFolder } from "../../support/new-folder.js";
import { until } from "../../support/until.js";
import { kill, WorkersUnderTest } from "./workers-under-test.js";

/** Sends one request after the other until `isDone`. Every failure rejects. */
async function load(workers: WorkersUnderTest, agent: http.Agent | false, isDone: () => boolean): Promise<number> {
  let responses = 0;
  while (!isDone()) {
    const { status } = await workers.ask(responses % 20 === 0 ? "/slow" : "/pid", agent);
    if (status !== 200) throw new Error(`status ${status}`);
    responses += 1;
  }
  return responses;
}

describe("SIGHUP to the parent of workers", function () {
  // Processes start one after the other.
  this.timeout(240_000);
  it("replaces all workers without a failed request, on kept and on new connections", async () => {
    await using workers = await WorkersUnderTest.start(2);
    const before = workers.listPids();
    const agents = Array.from({ length: 4 }, () => new http.Agent({ keepAlive: true, maxSockets: 1 }));
    let isDone = false;
    const loads = [...agents, false as const, false as const].map((agent) => load(workers, agent, () => isDone));

    for (const roll of [1, 2, 3]) {
      workers.parent.kill("SIGHUP");
      await workers.says("workers replaced", roll);
    }
    isDone = true;
    const responses = await Promise.all(loads);
    for (const agent of agents) agent.destroy();

    expect(Math.min(...responses)).to.be.above(0);
    const after = await workers.serving(2);
    expect(before.filter((pid) => after.has(pid))).to.deep.equal([]);
  });

  it("leaves a kept connection open until its next response, for the drain delay", async () => {
    await using workers = await WorkersUnderTest.start(1, { DELAY: "5000" });
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const before = await workers.ask("/pid", agent);

    workers.parent.kill("SIGHUP");
    await workers.says("draining");
    const [kept, next] = [await workers.ask("/pid", agent), await workers.ask("/pid", agent)];
    agent.destroy();

    expect(kept).to.deep.equal({ ...before, closes: true });
    expect(next.text).to.not.equal(before.text);
  });

  it("replaces the workers also if all processes get it, as those of a terminal that is closed", async () => {
    await using workers = await WorkersUnderTest.start(2);
    const slow = workers.ask("/slow");
    await workers.ask("/pid");

    for (const pid of workers.listPids()) kill(pid, "SIGHUP");
    workers.parent.kill("SIGHUP");
    await workers.says("workers replaced");

    expect((await slow).status).to.equal(200);
    expect(workers.log).to.not.include("ERROR");
  });

  it("during a roll has another roll follow", async () => {
    await using workers = await WorkersUnderTest.start(2);

    workers.parent.kill("SIGHUP");
    await workers.says("replacing workers");
    workers.parent.kill("SIGHUP");
    await workers.says("workers replaced", 2);

    expect(workers.log.split("worker ready")).to.have.length(7);
    expect(workers.listPids()).to.have.length(2);
  });

  it("while the workers start replaces them as well", async () => {
    using folder = newFolder();
    const gate = join(folder.path, "gate");
    await using workers = await WorkersUnderTest.spawn(1, { WAITS: gate });
    await until(() => workers.listPids().length === 1);
    const [first = 0] = workers.listPids();
    await workers.says("starting workers");

    workers.parent.kill("SIGHUP");
    await until(() => workers.listPids().length === 2);
    writeFileSync(gate, "");
    await workers.says("workers replaced");

    expect([...(await workers.serving(1))]).to.not.include(first);
  });

  it("does nothing after SIGTERM", async () => {
    await using workers = await WorkersUnderTest.start(2);
    const slow = workers.ask("/slow");
    await workers.ask("/pid");
    workers.parent.kill("SIGTERM");
    await workers.says("signal received");

    workers.parent.kill("SIGHUP");

    expect((await slow).status).to.equal(200);
    expect(await workers.parent.exitCode()).to.equal(0);
    expect(workers.log.split("worker ready")).to.have.length(3);
  });

  it("leaves the workers that serve if a replacement does not start, and works again later", async () => {
    using folder = newFolder();
    const refuses = join(folder.path, "refuses");
    await using workers = await WorkersUnderTest.start(2, { REFUSES: refuses });
    const before = await workers.serving(2);

    writeFileSync(refuses, "");
    workers.parent.kill("SIGHUP");
    await workers.says("workers not replaced: a replacement did not become ready");
    expect([...(await workers.serving(2))]).to.have.members([...before]);
    rmSync(refuses);
    workers.parent.kill("SIGHUP");
    await workers.says("workers replaced");

    expect([...(await workers.serving(2))].filter((pid) => before.has(pid))).to.deep.equal([]);
  });

  it("ends the roll if SIGTERM follows", async () => {
    await using workers = await WorkersUnderTest.start(2);

    workers.parent.kill("SIGHUP");
    await workers.says("replacing workers");
    workers.parent.kill("SIGTERM");

    expect(await workers.parent.exitCode()).to.equal(0);
    expect(workers.log).to.not.include("ERROR");
  });
});

/** Opens connections that stay open for a second request. Resolves to the number of connections of each worker. */
async function openAtOnce(workers: WorkersUnderTest, count: number): Promise<readonly number[]> {
  const agents = Array.from({ length: count }, () => new http.Agent({ keepAlive: true, maxSockets: 1 }));
  const pids = (await Promise.all(agents.map((agent) => workers.ask("/pid", agent)))).map(({ text }) => text);
  for (const agent of agents) agent.destroy();
  return [...new Set(pids)].map((pid) => pids.filter((each) => each === pid).length);
}

describe("the connections of workers", () => {
  it("close after the number of responses that the option gives", async () => {
    await using workers = await WorkersUnderTest.start(1, { OPTIONS: JSON.stringify({ responsesPerConnection: 3 }) });
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

    const responses = [];
    for (let sent = 0; sent < 6; sent++) responses.push(await workers.ask("/pid", agent));
    agent.destroy();

    expect(responses.map(({ closes }) => closes)).to.deep.equal([false, false, true, false, false, true]);
  });

  for (const count of [16, 64]) {
    it(`spread evenly over four workers if ${count} are opened at once and stay open`, async () => {
      await using workers = await WorkersUnderTest.start(4);
      let counts = await openAtOnce(workers, count);
      // A machine that pauses lets a worker seem busy.
      for (let tries = 1; tries < 4 && Math.max(...counts) > count / 4; tries++)
        counts = await openAtOnce(workers, count);

      expect(counts).to.deep.equal(Array.from({ length: 4 }, () => count / 4));
    });
  }

  it("spread over the workers", async () => {
    await using workers = await WorkersUnderTest.start(2);
    const counts = new Map<string, number>();

    for (let sent = 0; sent < 20; sent++) {
      const { text } = await workers.ask("/pid");
      counts.set(text, (counts.get(text) ?? 0) + 1);
    }

    // The parent may learn that a connection has ended after the next one has come.
    expect(counts.size).to.equal(2);
    expect(Math.min(...counts.values())).to.be.at.least(5);
  });

  it("wait while the only worker is replaced", async () => {
    await using workers = await WorkersUnderTest.start(1);
    const [pid = 0] = workers.listPids();
    kill(pid, "SIGSTOP");
    const waiting = Promise.all([workers.ask("/pid"), workers.ask("/pid"), workers.ask("/pid")]);

    kill(pid, "SIGKILL");

    expect((await waiting).map(({ status }) => status)).to.deep.equal([200, 200, 200]);
  });
});
