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

/** Performs the step on the queue and on a plain list of expiries with the same numbers. */
function perform(step: Step, queue: ExpiryQueue, expiries: number[]): void {
  if ("add" in step) {
    expect(queue.add(step.add)).to.equal(expiries.length);
    expiries.push(step.add);
  } else if (expiries.length === 0) {
    expect(queue.size).to.equal(0);
  } else if ("postpone" in step) {
    const entry = step.postpone % expiries.length;
    const later = (expiries[entry] ?? 0) + step.by;
    queue.postpone(entry, later);
    expiries[entry] = later;
  } else if ("replace" in step) {
    expiries[queue.earliest] = step.replace;
    queue.replaceEarliest(step.replace);
  } else {
    const { earliest } = queue;
    queue.removeEarliest();
    const last = expiries.pop() ?? 0;
    if (earliest < expiries.length) expiries[earliest] = last;
  }
}

describe("ExpiryQueue", () => {
  it("knows its earliest entry after any sequence of steps", () => {
    fc.assert(
      fc.property(steps, (sequence) => {
        const queue = new ExpiryQueue();
        const expiries: number[] = [];

        for (const step of sequence) {
          perform(step, queue, expiries);
          expect(queue.size).to.equal(expiries.length);
          if (expiries.length > 0) expect(queue.getExpiry(queue.earliest)).to.equal(Math.min(...expiries));
        }

        expect(expiries.map((_expiry, entry) => queue.getExpiry(entry))).to.deep.equal(expiries);
      }),
    );
  });

  it("returns all entries in order while it grows and shrinks", () => {
    const queue = new ExpiryQueue();
    for (let at = 0; at < 20_000; at++) queue.add((at * 7919) % 20_011);

    const drained: number[] = [];
    while (queue.size > 0) {
      drained.push(queue.getExpiry(queue.earliest));
      queue.removeEarliest();
    }

    expect(drained).to.have.length(20_000);
    expect(drained).to.deep.equal(drained.toSorted((one, other) => one - other));
  });
});
