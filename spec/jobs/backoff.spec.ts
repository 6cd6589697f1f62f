import { checkBackoff, getRetryDelay } from "../../lib/jobs/retry-delay.js";
import { job } from "@stagecraft/framework/jobs";
import { expect } from "chai";
import { assert, double, integer, property } from "fast-check";
import { errorOf } from "../support/error-of.js";

const FAILURE = new Error("not yet");

function waits(backoff: Parameters<typeof checkBackoff>[0], attempts: readonly number[]): readonly number[] {
  return attempts.map((attempt) => getRetryDelay(checkBackoff(backoff), attempt, FAILURE));
}

function throwing(): number {
  throw new Error("a fault of the function");
}

describe("the back-off of a job", () => {
  it("is a second, twice as long after each further attempt, and at most an hour", () => {
    expect(waits(undefined, [1, 2, 3, 12, 13, 1000])).to.deep.equal([
      1000, 2000, 4000, 2_048_000, 3_600_000, 3_600_000,
    ]);
  });

  it("follows the numbers in the options of the job", () => {
    const backoff = { firstMs: 500, factor: 3, maxMs: 5000 };

    expect(waits(backoff, [1, 2, 3, 4])).to.deep.equal([500, 1500, 4500, 5000]);
  });

  it("is a random time between the part without jitter and the whole wait", () => {
    assert(
      property(double({ min: 0, max: 1, noNaN: true }), integer({ min: 1, max: 1000 }), (jitter, attempt) => {
        const [whole = 0] = waits({}, [attempt]);
        const [wait = 0] = waits({ jitter }, [attempt]);
        expect(wait).to.be.within(Math.floor(whole * (1 - jitter)), whole);
      }),
    );
    expect(
      new Set(
        waits(
          { jitter: 0.5 },
          Array.from({ length: 50 }, () => 5),
        ),
      ).size,
    ).to.be.above(1);
  });

  it("is the result of the function of the job, rounded and at most 30 days", () => {
    const asked: unknown[] = [];
    const backoff = (attempt: number, error: unknown): number => {
      asked.push([attempt, error]);
      return attempt === 1 ? 12.6 : Infinity;
    };

    expect(waits(backoff, [1, 2])).to.deep.equal([13, 2_592_000_000]);
    expect(asked).to.deep.equal([
      [1, FAILURE],
      [2, FAILURE],
    ]);
  });

  it("is the default back-off if the function throws or returns no number from 0", () => {
    expect(waits(throwing, [2])).to.deep.equal([2000]);
    expect(waits(() => -1, [2])).to.deep.equal([2000]);
    expect(waits(() => NaN, [2])).to.deep.equal([2000]);
  });

  it("is refused with numbers outside of their ranges, and with an unknown option", () => {
    for (const backoff of [{ firstMs: 0 }, { factor: 0.5 }, { maxMs: NaN }, { jitter: 1.1 }])
      expect(errorOf(() => job("mail", undefined, { backoff }))).to.include({ code: "E_JOB_OPTION" });
    const misspelt: object = { first: 5 };
    expect(errorOf(() => job("mail", undefined, { backoff: misspelt }))).to.include({ code: "E_OPTION" });
  });
});
