import { expect } from "chai";
import * as fc from "fast-check";
import { Quota } from "../../../lib/stages/rate-limit/quota.js";
import { SWEEP_ABOVE, TokenBuckets } from "../../../lib/stages/rate-limit/token-bucket.js";
import { FrameworkError } from "../../../lib/errors/framework-error.js";
import { errorOf } from "../../support/error-of.js";

const SECOND = 1000;
const MINUTE = 60_000;
const HOUR = 3_600_000;

/** A bucket with exact fractions: it counts tokens in parts of `1 / window`. */
class NaiveBucket {
  private parts: bigint;
  private readonly full: bigint;
  private at = 0;

  constructor(
    private readonly limit: number,
    private readonly window: number,
    capacity: number,
  ) {
    this.full = BigInt(capacity) * BigInt(window);
    this.parts = this.full;
  }

  take(now: number): { readonly admitted: boolean; readonly remaining: number; readonly reset: number } {
    const filled = this.parts + BigInt(now - this.at) * BigInt(this.limit);
    this.parts = filled > this.full ? this.full : filled;
    this.at = now;
    const admitted = this.parts >= BigInt(this.window);
    if (admitted) this.parts -= BigInt(this.window);
    const missing = this.full - this.parts;
    const perSecond = BigInt(this.limit) * 1000n;
    const reset = Number((missing + perSecond - 1n) / perSecond);
    return { admitted, remaining: Number(this.parts / BigInt(this.window)), reset };
  }
}

const quotas = fc.record({
  limit: fc.integer({ min: 1, max: 200 }),
  window: fc.constantFrom(SECOND, MINUTE, HOUR),
  burst: fc.integer({ min: 1, max: 50 }),
});
/** Pauses between requests: bursts, and gaps near the times at which tokens appear. */
const pauses = fc.array(fc.oneof(fc.constant(0), fc.nat(40), fc.nat(3000), fc.nat(400_000)), { maxLength: 200 });

describe("TokenBuckets", () => {
  it("starts full, gives one token per request, and refuses without one", () => {
    const buckets = new TokenBuckets(Quota.of(3, MINUTE));

    const decisions = [0, 0, 0, 0].map((now) => buckets.take("a", now));

    expect(decisions.map(({ isAdmitted, remaining }) => [isAdmitted, remaining])).to.deep.equal([
      [true, 2],
      [true, 1],
      [true, 0],
      [false, 0],
    ]);
  });

  it("refills continuously, to the millisecond", () => {
    const buckets = new TokenBuckets(Quota.of(3, MINUTE));
    for (let count = 0; count < 3; count++) buckets.take("a", 0);

    expect(buckets.take("a", 19_999).isAdmitted).to.equal(false);
    expect(buckets.take("a", 20_000).isAdmitted).to.equal(true);
    expect(buckets.take("a", 20_001).isAdmitted).to.equal(false);
  });

  it("takes no token for a refused request", () => {
    const buckets = new TokenBuckets(Quota.of(1, SECOND));
    for (let now = 0; now < 1000; now += 10) buckets.take("a", now);

    expect(buckets.take("a", 1000).isAdmitted).to.equal(true);
  });

  it("has separate buckets for different keys", () => {
    const buckets = new TokenBuckets(Quota.of(1, MINUTE));

    expect(["a", "b", "a", "b"].map((key) => buckets.take(key, 0).isAdmitted)).to.deep.equal([
      true,
      true,
      false,
      false,
    ]);
  });

  it("admits a burst above or below the limit", () => {
    const wide = new TokenBuckets(Quota.of(1, MINUTE).withBurst(3));
    const narrow = new TokenBuckets(Quota.of(60, MINUTE).withBurst(1));

    expect([0, 0, 0, 0].map((now) => wide.take("a", now).isAdmitted)).to.deep.equal([true, true, true, false]);
    expect([0, 999, 1000].map((now) => narrow.take("a", now).isAdmitted)).to.deep.equal([true, false, true]);
    expect(wide.take("b", 0).limit).to.equal(1);
  });

  const waits: readonly (readonly [string, Quota, number, number, number])[] = [
    ["one a second", Quota.of(1, SECOND), 1, 1, 1],
    ["ten an hour", Quota.of(10, HOUR), 10, 3600, 360],
    ["a hundred a second", Quota.of(100, SECOND), 100, 1, 1],
    ["seven a minute", Quota.of(7, MINUTE), 7, 60, 9],
    ["one an hour with a burst of three", Quota.of(1, HOUR).withBurst(3), 3, 10_800, 3600],
  ];
  for (const [title, quota, tokens, reset, retryAfter] of waits) {
    it(`rounds up the seconds until the bucket is full and until there is a token: ${title}`, () => {
      const buckets = new TokenBuckets(quota);
      for (let count = 0; count < tokens; count++) buckets.take("a", 5);

      const refused = buckets.take("a", 5);

      expect(refused.isAdmitted).to.equal(false);
      expect(refused.resetSeconds).to.equal(reset);
      expect(refused.retryAfterSeconds).to.equal(retryAfter);
    });
  }

  for (const closed of [Quota.of(0, MINUTE), Quota.of(5, MINUTE).withBurst(0), Quota.of(0, MINUTE).withBurst(5)]) {
    it(`refuses all requests with a limit of ${closed.limit} and a burst of ${closed.capacity}`, () => {
      const buckets = new TokenBuckets(closed);

      const decision = buckets.take("a", 0);

      expect(decision).to.include({ isAdmitted: false, limit: closed.limit, remaining: 0, retryAfterSeconds: 1 });
      expect(buckets.size).to.equal(0);
    });
  }

  it("decides as an exact bucket does, over any sequence of requests", () => {
    fc.assert(
      fc.property(quotas, pauses, fc.boolean(), ({ limit, window, burst }, gaps, bursting) => {
        const quota = bursting ? Quota.of(limit, window).withBurst(burst) : Quota.of(limit, window);
        const buckets = new TokenBuckets(quota);
        const naive = new NaiveBucket(limit, window, quota.capacity);
        let now = 0;

        for (const gap of gaps) {
          now += gap;
          const { isAdmitted, remaining, resetSeconds } = buckets.take("a", now);
          expect({ admitted: isAdmitted, remaining, reset: resetSeconds }).to.deep.equal(naive.take(now));
        }
      }),
    );
  });

  it("admits at most the burst and the refilled tokens, over any part of any sequence", () => {
    const requests = fc.array(fc.tuple(fc.constantFrom("a", "b", "c"), fc.nat(2000)), { maxLength: 150 });
    fc.assert(
      fc.property(quotas, requests, ({ limit, window, burst }, sequence) => {
        const buckets = new TokenBuckets(Quota.of(limit, window).withBurst(burst));
        const admitted = new Map<string, number[]>([
          ["a", []],
          ["b", []],
          ["c", []],
        ]);
        let now = 0;

        for (const [key, gap] of sequence) {
          now += gap;
          if (buckets.take(key, now).isAdmitted) admitted.get(key)?.push(now);
        }

        for (const times of admitted.values()) {
          times.forEach((from, first) => {
            times.slice(first).forEach((to, count) => {
              expect((count + 1 - burst) * window).to.be.at.most((to - from) * limit);
            });
          });
        }
      }),
    );
  });

  it("decides the same while other keys are added and swept", () => {
    const buckets = new TokenBuckets(Quota.of(10, SECOND));
    const naive = new NaiveBucket(10, SECOND, 10);

    for (let now = 0; now < 60_000; now++) {
      buckets.take(`other ${now}`, now);
      if (now % 7 !== 0) continue;
      const { isAdmitted, remaining } = buckets.take("regular", now);
      const { admitted, remaining: expected } = naive.take(now);
      expect([isAdmitted, remaining]).to.deep.equal([admitted, expected]);
    }
  });

  describe("the sweep", () => {
    it("retains full buckets up to the threshold, and removes all of them above it", () => {
      const buckets = new TokenBuckets(Quota.of(1, SECOND));
      for (let count = 0; count <= SWEEP_ABOVE; count++) buckets.take(`early ${count}`, 0);

      expect(buckets.size).to.equal(SWEEP_ABOVE + 1);
      buckets.take("late", 999);
      expect(buckets.size).to.equal(SWEEP_ABOVE + 2);
      buckets.take("later", 1000);

      expect(buckets.size).to.equal(2);
    });

    it("removes no bucket at the threshold", () => {
      const buckets = new TokenBuckets(Quota.of(1, SECOND));
      for (let count = 0; count < SWEEP_ABOVE; count++) buckets.take(`early ${count}`, 0);

      buckets.take("late", 5000);

      expect(buckets.size).to.equal(SWEEP_ABOVE + 1);
    });

    it("removes a bucket exactly when it is full: with ten per hour, six minutes after one request", () => {
      const buckets = new TokenBuckets(Quota.of(10, HOUR));
      for (let count = 0; count <= SWEEP_ABOVE; count++) buckets.take(`one request ${count}`, 0);

      buckets.take("probe", 6 * MINUTE - 1);
      const before = buckets.size;
      buckets.take("probe", 6 * MINUTE);

      expect(before).to.equal(SWEEP_ABOVE + 2);
      expect(buckets.size).to.equal(1);
    });

    it("removes 200 000 buckets of one request each when they are full", () => {
      const crowd = 200_000;
      const buckets = new TokenBuckets(Quota.of(10, HOUR));
      for (let count = 0; count < crowd; count++) buckets.take(`once ${count}`, count / 1000);

      const atOnce = buckets.size;
      buckets.take("late", 6 * MINUTE + crowd / 1000);

      expect(atOnce).to.equal(crowd);
      expect(buckets.size).to.equal(1);
    }).slow(2000);

    it("removes full buckets and retains the others", () => {
      const buckets = new TokenBuckets(Quota.of(2, SECOND));
      for (let count = 0; count <= SWEEP_ABOVE; count++) {
        buckets.take(`key ${count}`, 0);
        if (count % 3 === 0) buckets.take(`key ${count}`, 0);
      }

      buckets.take("probe", 500);

      expect(buckets.size).to.equal(Math.floor(SWEEP_ABOVE / 3) + 2);
      expect(buckets.take("key 0", 500).remaining).to.equal(0);
      expect(buckets.take("key 1", 500).remaining).to.equal(1);
    });
  });

  it("has at most 1 048 576 buckets, which bounds its memory", () => {
    const most = 1_048_576;
    const buckets = new TokenBuckets(Quota.of(10, HOUR));
    for (let count = 0; count < most; count++) buckets.take(String(count), 0);

    const full = buckets.size;
    buckets.take("one more", 0);

    expect([full, buckets.size]).to.deep.equal([most, most]);
  }).slow(6000);

  it("replaces the bucket that is nearest to full when the table is full", () => {
    const buckets = new TokenBuckets(Quota.of(3, HOUR), 4);
    for (const key of ["deep", "deep", "shallow", "deep", "middle", "middle", "late"]) buckets.take(key, 0);

    buckets.take("new", 1);

    expect(buckets.size).to.equal(4);
    expect(["deep", "middle", "late"].map((key) => buckets.take(key, 1).remaining)).to.deep.equal([0, 0, 1]);
  });

  for (const [what, make] of [
    ["limit", (value: number) => Quota.of(value, SECOND)],
    ["burst", (value: number) => Quota.of(1, SECOND).withBurst(value)],
  ] as const) {
    for (const value of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
      it(`refuses a ${what} of ${value}`, () => {
        const error = errorOf(() => make(value));

        expect(error).to.be.instanceOf(FrameworkError).with.property("code", "E_RATE_LIMIT_QUOTA");
        expect(error.message).to.contain(what).and.to.contain(String(value));
      });
    }
  }
});
