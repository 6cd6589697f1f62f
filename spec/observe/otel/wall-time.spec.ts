import type { HrTime } from "@opentelemetry/api";
import { expect } from "chai";
import { Clock } from "../../../lib/runtime/clock.js";
import { WallTime } from "../../../lib/observe/otel/span-export-layer.js";
import { FakeClock } from "../../../lib/testing/fake-clock.js";

const NOW = Date.UTC(2026, 0, 1);

describe("WallTime", () => {
  it("counts by the monotonic clock, also if the wall clock is set in between", () => {
    const clock = new FakeClock(NOW);
    const time = new WallTime(clock);
    const anchor = time.anchor();

    clock.advance(2.5);
    clock.setNow(0);

    expect(time.at(anchor)).to.deep.equal([NOW / 1000, 2_500_000]);
  });

  it("follows the wall clock with the next anchor, forwards and backwards", () => {
    const clock = new FakeClock(NOW);
    const time = new WallTime(clock);
    const seen = [NOW, NOW + 3_600_000, NOW - 3_600_000].map((now) => {
      clock.setNow(now);
      return millis(time.at(time.anchor())) - now;
    });

    expect(seen).to.deep.equal([0, 0, 0]);
  });

  it("approximates the fraction that the wall clock lacks", () => {
    const clock = new WholeMilliseconds();
    const time = new WallTime(clock);

    const first = clock.errorOf(time);
    for (let reading = 0; reading < 10; reading++) {
      clock.elapsed += 7.1;
      time.anchor();
    }

    expect(first).to.be.closeTo(0.7, 0.001);
    expect(clock.errorOf(time)).to.be.below(0.11);
  });
});

/** Like the system clock: a wall clock of whole milliseconds and a monotonic clock with fractions. */
class WholeMilliseconds extends Clock {
  elapsed = 0.7;

  override now(): number {
    return NOW + Math.floor(this.elapsed);
  }

  override monotonic(): number {
    return this.elapsed;
  }

  override setTimeout(): never {
    throw new Error("this clock has no timers");
  }

  errorOf(time: WallTime): number {
    return Math.abs(NOW + this.elapsed - millis(time.at(time.anchor())));
  }
}

function millis([seconds, nanoseconds]: HrTime): number {
  return seconds * 1000 + nanoseconds / 1e6;
}
