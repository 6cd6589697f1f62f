import { expect } from "chai";
import * as fc from "fast-check";
import { Deadline, Deadlines } from "../../lib/stages/timeout.js";
import { FakeClock } from "../../lib/testing/fake-clock.js";

const LIMIT = 100;

describe("Deadlines", () => {
  it("sets no timer before there is a deadline, one for all of them, and none after the last one is missed", () => {
    const clock = new FakeClock();
    const deadlines = new Deadlines(clock, LIMIT);

    const seen = [clock.pending];
    for (let count = 0; count < 5; count++) {
      deadlines.add(new Deadline(() => {}));
      clock.advance(1);
    }
    seen.push(clock.pending);
    clock.advance(LIMIT);
    seen.push(clock.pending);

    expect(seen).to.deep.equal([0, 1, 0]);
  });

  it("lets the timer of met deadlines run out, and sets no other", () => {
    const clock = new FakeClock();
    const deadlines = new Deadlines(clock, LIMIT);
    const deadline = new Deadline(() => expect.fail("it was met"));

    deadlines.add(deadline);
    deadlines.remove(deadline);
    clock.advance(10 * LIMIT);

    expect(clock.pending).to.equal(0);
  });

  it("calls each deadline that is not met at its time, and no other", () => {
    const steps = fc.array(fc.tuple(fc.nat(60), fc.boolean(), fc.nat(150)), { maxLength: 60 });
    fc.assert(
      fc.property(steps, (sequence) => {
        const clock = new FakeClock();
        const deadlines = new Deadlines(clock, LIMIT);
        const missed: string[] = [];
        const expected: string[] = [];

        sequence.forEach(([gap, isMet, after], index) => {
          clock.advance(gap);
          const due = clock.monotonic() + LIMIT;
          const deadline = new Deadline(() => missed.push(`${index} at ${clock.monotonic()}`));
          deadlines.add(deadline);
          if (isMet && after < LIMIT) clock.setTimeout(() => deadlines.remove(deadline), after);
          else expected.push(`${index} at ${due}`);
        });
        clock.advance(1000);

        expect(missed).to.deep.equal(expected);
        expect(clock.pending).to.equal(0);
      }),
    );
  });

  it("accepts a missed deadline again in its call, without being late for the others", () => {
    const clock = new FakeClock();
    const deadlines = new Deadlines(clock, LIMIT);
    const rung: string[] = [];
    const again = new Deadline(() => {
      rung.push(`again at ${clock.monotonic()}`);
      if (rung.length < 4) deadlines.add(again);
    });

    deadlines.add(again);
    clock.advance(30);
    deadlines.add(new Deadline(() => rung.push(`other at ${clock.monotonic()}`)));
    clock.advance(1000);

    expect(rung).to.deep.equal(["again at 100", "other at 130", "again at 200", "again at 300"]);
    expect(clock.pending).to.equal(0);
  });
});
