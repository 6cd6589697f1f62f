import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { stopProcesses } from "../../support/stop-process.js";
import { until } from "../../support/until.js";
import { isAlive, kill, WorkersUnderTest } from "./workers-under-test.js";

interface Death {
  readonly how: string;
  /** Ends the worker with this process id, which is the only one. */
  readonly die: (workers: WorkersUnderTest, pid: number) => unknown;
  readonly says: string;
}

const DEATHS: readonly Death[] = [
  { how: "is killed", die: (_, pid) => kill(pid, "SIGKILL"), says: "signal=SIGKILL asked=false" },
  { how: "is told to end", die: (_, pid) => kill(pid, "SIGTERM"), says: "code=0" },
  { how: "exits with 0", die: (workers) => workers.ask("/exit/0").catch(() => 0), says: "code=0 asked=false" },
  { how: "exits as one without memory", die: (workers) => workers.ask("/exit/134").catch(() => 0), says: "code=134" },
  { how: "aborts", die: (workers) => workers.ask("/abort").catch(() => 0), says: "signal=SIGABRT asked=false" },
  { how: "has an uncaught error", die: (workers) => workers.ask("/throw"), says: "code=1 asked=false" },
];

describe("a worker that ends", () => {
  for (const { how, die, says } of DEATHS) {
    it(`is replaced if it ${how}, and the port stays open`, async () => {
      await using workers = await WorkersUnderTest.start(1);
      const [pid = 0] = await workers.serving(1);

      await die(workers, pid);
      await workers.says("worker ended");
      const [next] = await workers.serving(1);

      expect(next).to.not.equal(pid);
      expect(workers.log).to.include(says);
      workers.parent.kill("SIGTERM");
      expect(await workers.parent.exitCode()).to.equal(0);
    });
  }

  it("leaves a request that it has not taken to another worker", async () => {
    await using workers = await WorkersUnderTest.start(2, { OPTIONS: JSON.stringify({ unresponsiveAfterMs: 60_000 }) });
    const [stopped = 0, other = 0] = await workers.serving(2);
    stopProcesses([stopped]);

    // One of the connections goes to the stopped worker.
    const responses = Promise.all(Array.from({ length: 8 }, () => workers.ask("/pid")));
    await workers.ask("/pid");
    kill(stopped, "SIGKILL");

    const pids = (await responses).map(({ text }) => Number(text));
    expect(pids).to.not.include(stopped);
    expect(pids).to.include(other);
  });

  it("is replaced and killed if it does not respond", async () => {
    await using workers = await WorkersUnderTest.start(2, { OPTIONS: JSON.stringify({ unresponsiveAfterMs: 2000 }) });
    const [stopped = 0] = await workers.serving(2);
    stopProcesses([stopped]);

    const responses = Promise.all(Array.from({ length: 8 }, () => workers.ask("/pid")));
    await workers.says("worker does not respond");
    await workers.areReady(3);

    expect((await responses).map(({ text }) => Number(text))).to.not.include(stopped);
    await until(() => !isAlive(stopped));
    expect((await workers.serving(2)).has(stopped)).to.equal(false);
  });

  it("is alone replaced, and not those that respond, after a pause of the parent that is longer than the limit", async () => {
    await using workers = await WorkersUnderTest.start(2, { OPTIONS: JSON.stringify({ unresponsiveAfterMs: 2000 }) });
    const [stopped = 0, other = 0] = await workers.serving(2);

    workers.parent.kill("SIGSTOP");
    await pause(3000);
    workers.parent.kill("SIGCONT");
    stopProcesses([stopped]);
    await workers.areReady(3);

    await until(() => !isAlive(stopped));
    expect(await workers.serving(2)).to.include(other);
    expect(workers.log.split("worker does not respond")).to.have.length(2);
  });

  it("is killed if it is not ready in time, with an event that says so", async () => {
    const environment = { WAITS: "/dev/null/never", OPTIONS: JSON.stringify({ startTimeoutMs: 2000 }) };
    await using workers = await WorkersUnderTest.spawn(1, environment);

    expect(await workers.parent.exitCode()).to.equal(1);
    expect(workers.log).to.match(/ERROR.* worker is not ready in time worker=1 pid=\d+ start_timeout_ms=2000/);
    expect(workers.log).to.include("signal=SIGKILL asked=false");
    expect(workers.log).to.include("E_WORKERS_START worker 1 ended with signal SIGKILL before it was ready");
  });

  it("ends the service if it ends again and again", async () => {
    await using workers = await WorkersUnderTest.start(1, { OPTIONS: JSON.stringify({ maxRestartsPerMinute: 2 }) });

    for (const times of [1, 2, 3]) {
      await workers.ask("/exit/5").catch(() => undefined);
      await workers.says("worker ended", times);
    }

    expect(await workers.parent.exitCode()).to.equal(1);
    expect(workers.log).to.include("E_WORKERS_RESTARTS more than 2 workers ended within 60000 ms");
  });
});
