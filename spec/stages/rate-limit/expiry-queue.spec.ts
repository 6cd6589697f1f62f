import { expect } from "chai";
import * as fc from "fast-check";
import { ExpiryQueue } from "../../../lib/stages/rate-limit/expiry-queue.js";

type Step =
  | { readonly add: number }
  | { readonly postpone: number; readonly by: number }
  | { readonly replace: number }
  | { readonly remove: true };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ add: fc.nat(1000) }) },
    { weight: 3, arbitrary: fc.record({ postpone: fc.nat(), by: fc.nat(1000) }) },
    { weight: 2, arbitrary: fc.record({ replace: fc.nat(1000) }) },
    { weight: 2, arbitrary: fc.constant({ remove: true } as const) },
  ),
  { maxLength: 300 },
);

/** Does what the step says to the queue and to a plain list of moments, numbered alike. */
function perform(step: Step, queue: ExpiryQueue, moments: number[]): void {
  if ("add" in step) {
    expect(queue.add(step.add)).to.equal(moments.length);
    moments.push(step.add);
  } else if (moments.length === 0) {
    expect(queue.size).to.equal(0);
  } else if ("postpone" in step) {
    const entry = step.postpone % moments.length;
    const later = (moments[entry] ?? 0) + step.by;
    queue.postpone(entry, later);
    moments[entry] = later;
  } else if ("replace" in step) {
    moments[queue.earliest] = step.replace;
    queue.replaceEarliest(step.replace);
  } else {
    const { earliest } = queue;
    queue.removeEarliest();
    const last = moments.pop() ?? 0;
    if (earliest < moments.length) moments[earliest] = last;
  }
}

describe("MomentQueue", () => {
  it("knows the earliest of what is in it, through any sequence of steps", () => {
    fc.assert(
      fc.property(steps, (sequence) => {
        const queue = new ExpiryQueue();
        const moments: number[] = [];

        for (const step of sequence) {
          perform(step, queue, moments);
          expect(queue.size).to.equal(moments.length);
          if (moments.length > 0) expect(queue.expiryOf(queue.earliest)).to.equal(Math.min(...moments));
        }

        expect(moments.map((_moment, entry) => queue.expiryOf(entry))).to.deep.equal(moments);
      }),
    );
  });

  it("gives everything back in order after it has grown, and shrinks with it", () => {
    const queue = new ExpiryQueue();
    for (let at = 0; at < 20_000; at++) queue.add((at * 7919) % 20_011);

    const drained: number[] = [];
    while (queue.size > 0) {
      drained.push(queue.expiryOf(queue.earliest));
      queue.removeEarliest();
    }

    expect(drained).to.have.length(20_000);
    expect(drained).to.deep.equal(drained.toSorted((one, other) => one - other));
  });
});
