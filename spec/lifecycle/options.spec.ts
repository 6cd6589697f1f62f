import { expect } from "chai";
import { checkLifecycleOptions, completeLifecycleOptions } from "../../lib/lifecycle/options.js";

describe("The times of the lifecycle", () => {
  for (const [profile, drainDelayMs] of [
    ["release", 5_000],
    ["debug", 500],
  ] as const) {
    it(`are those of the specification in ${profile} where none is given`, () => {
      expect(completeLifecycleOptions({}, profile)).to.deep.equal({
        drainDelayMs,
        drainDeadlineMs: 30_000,
        stopTimeoutMs: 5_000,
        probeTimeoutMs: 1_000,
      });
    });
  }

  it("are what is given, zero included", () => {
    const given = { drainDelayMs: 0, drainDeadlineMs: 1, stopTimeoutMs: 2, probeTimeoutMs: 3 };

    expect(completeLifecycleOptions(given, "release")).to.deep.equal(given);
    expect(checkLifecycleOptions(given)).to.deep.equal([]);
  });

  for (const value of [-1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31]) {
    it(`cannot be ${value}`, () => {
      const findings = checkLifecycleOptions({ drainDelayMs: value, stopTimeoutMs: value, probeTimeoutMs: 1 });

      expect(findings.map(({ code, what }) => `${code} ${what}`)).to.deep.equal([
        `E_LIFECYCLE_OPTION drainDelayMs is ${value}`,
        `E_LIFECYCLE_OPTION stopTimeoutMs is ${value}`,
      ]);
    });
  }
});
