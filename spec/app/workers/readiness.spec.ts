/** One readiness for all workers, whichever is asked. */
import { expect } from "chai";
import { ParentReadiness } from "../../../lib/app/workers/parent-readiness.js";
import { WorkerReadiness } from "../../../lib/app/workers/worker-readiness.js";
import { Lifecycle } from "../../../lib/lifecycle/state.js";
import { Readiness } from "../../../lib/lifecycle/readiness.js";
import type { SubsystemKind } from "../../../lib/lifecycle/subsystem.js";
import { SubsystemRegistry } from "../../../lib/lifecycle/subsystem-registry.js";
import { FakeClock } from "../../../lib/testing/fake-clock.js";
import { never, Probed } from "../../lifecycle/recorded.js";
import { LinkedPair } from "./linked-pair.js";

class Service {
  readonly clock = new FakeClock();
  readonly parent = new ParentReadiness(this.clock, 1000);

  fork(id: number, probe?: () => unknown, names: readonly SubsystemKind[] = ["database"]) {
    const pair = new LinkedPair(id);
    const lifecycle = new Lifecycle();
    const readiness = new Readiness(lifecycle, { clock: this.clock, profile: "debug" });
    let hasParent = true;
    readiness.share(new WorkerReadiness(readiness, pair.worker, this.clock, () => hasParent));
    this.parent.forked(pair.parent);
    return {
      readiness,
      lifecycle,
      pair,
      reach: async () => {
        readiness.startProbing(new SubsystemRegistry(names.map((name) => new Probed(name, probe))).members);
        lifecycle.markReady();
        this.parent.ready(pair.parent);
        await settled();
      },
      drain: async () => {
        this.parent.ending(pair.parent);
        lifecycle.beginDrain();
        await settled();
      },
      loseParent: () => (hasParent = false),
    };
  }
}

function fails(): Promise<never> {
  return Promise.reject(new Error("refused"));
}

/** The report of each worker, all asked at once. */
function reportsOf(workers: readonly { readonly readiness: Readiness }[]) {
  return Promise.all(workers.map(async ({ readiness }) => readiness.report()));
}

async function settled(): Promise<void> {
  for (let round = 0; round < 10; round++) await new Promise((resolve) => setImmediate(resolve));
}

describe("the readiness of workers", () => {
  it("is that of the service in a worker that starts, serves or drains for a roll", async () => {
    const service = new Service();
    const [one, two] = [service.fork(1), service.fork(2)];
    await settled();
    const before = [one, two].map(({ readiness }) => readiness.report());
    await one.reach();
    const during = await reportsOf([one, two]);
    await two.reach();
    await one.drain();
    const after = await reportsOf([one, two]);

    const checks = { database: { status: "up" } };
    for (const report of before)
      expect(report).to.deep.equal({ state: "booting", ready: false, workers: { ready: 0, all: 2 } });
    for (const report of [...during, ...after])
      expect(report).to.deep.equal({ state: "ready", ready: true, workers: { ready: 1, all: 2 }, checks });
    expect([one.readiness.isReady, one.readiness.state]).to.deep.equal([false, "draining"]);
  });

  it("is draining in all of them when all drain", async () => {
    const service = new Service();
    const [one, two] = [service.fork(1), service.fork(2)];
    await one.reach();
    await two.reach();

    await one.drain();
    await two.drain();

    for (const { readiness } of [one, two])
      expect(readiness.report()).to.deep.equal({ state: "draining", ready: false, workers: { ready: 0, all: 2 } });
  });

  it("has a check that fails in one worker, whichever is asked", async () => {
    const service = new Service();
    const workers = [service.fork(1), service.fork(2, fails), service.fork(3, fails), service.fork(4)];
    for (const worker of workers.slice(0, 3)) await worker.reach();

    const reports = await reportsOf(workers);

    const reason = "refused (in 2 of 3 workers)";
    const checks = { database: { status: "down", reason } };
    for (const report of reports)
      expect(report).to.deep.equal({ state: "ready", ready: false, workers: { ready: 3, all: 4 }, checks });
  });

  it("has a check that fails in the only worker without a count of workers besides it", async () => {
    const service = new Service();
    const one = service.fork(1, fails, ["mail", "cache"]);
    await one.reach();

    const { checks } = await one.readiness.report();

    expect(Object.keys(checks ?? {})).to.deep.equal(["cache", "mail"]);
    expect(checks?.["mail"]).to.deep.equal({ status: "down", reason: "refused (in 1 of 1 workers)" });
  });

  it("waits for a probe that takes too long, and once for a worker that does not respond", async () => {
    const service = new Service();
    const [one, slow, stuck] = [service.fork(1), service.fork(2, never), service.fork(3)];
    for (const worker of [one, slow, stuck]) await worker.reach();
    stuck.pair.isRead = false;

    const waiting = one.readiness.report();
    await settled();
    await service.clock.advanceAsync(1000);
    await settled();
    await service.clock.advanceAsync(250);
    const report = await waiting;
    await slow.drain();
    const next = await one.readiness.report();

    expect(report).to.deep.include({ ready: false });
    expect(report.checks?.["database"]).to.deep.equal({
      status: "down",
      reason: "timed out after 1000 ms (in 1 of 2 workers)",
    });
    expect(next).to.deep.include({ ready: true, workers: { ready: 2, all: 3 } });
  });

  it("is that of the worker alone when its parent has ended, or does not respond", async () => {
    const service = new Service();
    const one = service.fork(1);
    await one.reach();
    one.pair.isRead = false;
    const waiting = one.readiness.report();
    await service.clock.advanceAsync(1500);
    const unanswered = await waiting;
    one.loseParent();
    const alone = await one.readiness.report();
    one.lifecycle.beginDrain();

    const checks = { database: { status: "up" } };
    expect(unanswered).to.deep.equal({ state: "ready", ready: true, workers: { ready: 1, all: 1 }, checks });
    expect(alone).to.deep.equal({ state: "ready", ready: true, checks });
    expect(one.readiness.report()).to.deep.equal({ state: "draining", ready: false });
  });

  it("asks no other process where no subsystem has a probe", async () => {
    const service = new Service();
    const one = service.fork(1, undefined, []);
    await one.reach();

    expect(one.readiness.report()).to.deep.equal({ state: "ready", ready: true, workers: { ready: 1, all: 1 } });
  });
});
