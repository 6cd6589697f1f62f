/** Hooks that never end: after the signal each of them has a limit, and the process ends with exit code 1. */
import { expect } from "chai";
import { Child } from "../support/child.js";

const APPLICATION = "../journeys/hanging-hooks-application.js";

/** The name that standard error must contain; a log sink that hangs takes the log with it. */
const hooks: readonly (readonly [hook: string, named: RegExp])[] = [
  ["start", /database:Store failed to stop: start\(\) took longer than 200 ms/],
  ["beginWork", /database:Store failed to stop: beginWork\(\) took longer than 200 ms/],
  ["endWork", /database:Store failed to stop: endWork\(\) took longer than 400 ms/],
  ["stop", /database:Store failed to stop: stop\(\) took longer than 200 ms/],
  ["listener", /listeners did not end before the stop: Listener.hear/],
  ["dispose", /dispose failed: .*Disposed \(took longer than 200 ms\)/],
  ["asyncDispose", /dispose failed: .*AsyncDisposed \(took longer than 200 ms\)/],
  ["shutdown", /shutdown failed: Error: took longer than 200 ms/],
  ["log sink", /^/],
];

/** What the process prints until SIGTERM has ended it. */
async function endedBySignal(hook: string, mode: string): Promise<{ code: number | null; out: string; err: string }> {
  await using child = await Child.start(APPLICATION, { HOOK: hook, MODE: mode });
  await child.says("reached");
  child.kill("SIGTERM");
  const code = await child.exitCode();
  return { code, out: child.output, err: child.errors };
}

describe("a hook that never ends", function () {
  this.timeout(120_000);
  this.slow(6000);

  for (const hook of ["stop", "dispose", "shutdown"]) {
    it(`lets run() reject after a start that failed: ${hook}`, async () => {
      await using child = await Child.start(APPLICATION, { HOOK: hook, START_FAILS: "yes" });

      expect(await child.exitCode()).to.equal(1);
      expect(child.errors).to.contain("mail failed to start: no such host").and.contain("took longer than 200 ms");
    });
  }

  for (const mode of ["run", "work"]) {
    it(`lets ${mode}() reject once after a start that failed, where the signal comes meanwhile`, async () => {
      await using child = await Child.start(APPLICATION, { HOOK: "dispose", MODE: mode, START_FAILS: "yes" });
      await child.says("reached");
      child.kill("SIGTERM");

      expect(await child.exitCode()).to.equal(1);
      expect(child.output).to.equal("the earlier one stopped\nreached\nshut down\n");
      expect(child.errors).to.contain("mail failed to start: no such host");
    });

    it(`shuts down once where a start fails after the signal, and ${mode}() resolves`, async () => {
      await using child = await Child.start(APPLICATION, { MODE: mode, START_FAILS: "after the signal" });
      await child.says("reached");
      child.kill("SIGTERM");

      expect(await child.exitCode()).to.equal(0);
      expect(child.output).to.equal("reached\nthe earlier one stopped\nshut down\nover\n");
    });

    for (const [hook, named] of hooks) {
      it(`lets ${mode}() resolve and the process end with exit code 1: ${hook}`, async () => {
        const { code, out, err } = await endedBySignal(hook, mode);

        expect(code).to.equal(1);
        expect(out).to.equal("reached\nthe earlier one stopped\nshut down\nover\n");
        expect(err).to.match(named);
      });
    }

    it(`is none, and ${mode}() ends with exit code 0`, async () => {
      const { code, out } = await endedBySignal("", mode);

      expect(code).to.equal(0);
      expect(out).to.equal("reached\nthe earlier one stopped\nshut down\nover\n");
    });
  }
});
