import { expect } from "chai";
import { checkLifecycleOptions, completeLifecycleOptions } from "../../lib/lifecycle/lifecycle-options.js";

describe("lifecycle options", () => {
  for (const [profile, drainDelayMs] of [
    ["release", 5_000],
    ["debug", 500],
  ] as const) {
    it(`have the defaults of ${profile} where none is given`, () => {
      expect(completeLifecycleOptions({}, profile)).to.deep.equal({
        drainDelayMs,
        drainDeadlineMs: 30_000,
        stopTimeoutMs: 5_000,
        probeTimeoutMs: 1_000,
      });
    });
  }

  it("are the given times, zero included", () => {
    const given = { drainDelayMs: 0, drainDeadlineMs: 1, stopTimeoutMs: 2, probeTimeoutMs: 3 };

    expect(completeLifecycleOptions(given, "release")).to.deep.equal(given);
    expect(checkLifecycleOptions(given)).to.deep.equal([]);
  });

  for (const value of [-1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31]) {
    it(`cannot be ${value}`, () => {
      const diagnostics = checkLifecycleOptions({ drainDelayMs: value, stopTimeoutMs: value, probeTimeoutMs: 1 });

      expect(diagnostics.map(({ code, what }) => `${code} ${what}`)).to.deep.equal([
        `E_LIFECYCLE_OPTION drainDelayMs cannot be ${value}`,
        `E_LIFECYCLE_OPTION stopTimeoutMs cannot be ${value}`,
      ]);
    });
  }

  it("have no name that is not an option", () => {
    const given: object = { drainDelay: 1 };

    const diagnostics = checkLifecycleOptions(given);

    expect(diagnostics.map(({ code, what }) => `${code} ${what}`)).to.deep.equal([
      "E_LIFECYCLE_OPTION drainDelay is not an option of the lifecycle",
    ]);
  });
});
