import { expect } from "chai";
import * as fc from "fast-check";
import { BucketTable, NO_ENTRY } from "../../../lib/stages/rate-limit/bucket-table.js";

interface Digest {
  readonly low: number;
  readonly high: number;
}

/** A few that all want the same slots, at the end of the table and over its edge, and some of anywhere. */
const digests = fc.record({
  low: fc.oneof(fc.constantFrom(2046, 2047, 4095, -1, 0, 1), fc.integer()),
  high: fc.constantFrom(0, 1, 2),
});

/** The table beside a plain list of what is in it, by number. */
class Model {
  readonly table = new BucketTable();
  readonly digests: Digest[] = [];

  take(digest: Digest): void {
    const known = this.digests.findIndex(({ low, high }) => low === digest.low && high === digest.high);
    expect(this.table.find(digest)).to.equal(known < 0 ? NO_ENTRY : known);
    if (known >= 0) return;
    this.table.add(digest, this.digests.length);
    this.digests.push(digest);
  }

  remove(entry: number): void {
    this.table.remove(entry);
    const last = this.digests.pop();
    if (last === undefined || entry === this.digests.length) return;
    this.digests[entry] = last;
    this.table.renumber(this.digests.length, entry);
  }

  check(): void {
    expect(this.table.size).to.equal(this.digests.length);
    this.digests.forEach((digest, entry) => expect(this.table.find(digest)).to.equal(entry));
  }
}

function digestOf(entry: number): Digest {
  return { low: Math.imul(entry, 0x9e3779b1), high: entry };
}

describe("KeyTable", () => {
  it("finds what is in it and nothing else, through any sequence of steps", () => {
    const steps = fc.array(fc.oneof({ weight: 3, arbitrary: digests }, { weight: 2, arbitrary: fc.nat() }), {
      maxLength: 200,
    });

    fc.assert(
      fc.property(steps, (sequence) => {
        const model = new Model();

        for (const step of sequence) {
          if (typeof step === "object") model.take(step);
          else if (model.digests.length > 0) model.remove(step % model.digests.length);
        }

        model.check();
      }),
    );
  });

  it("gives the number of a removed entry to another", () => {
    const model = new Model();
    for (let low = 0; low < 100; low++) model.take({ low: low * 2048, high: 0 });

    model.table.remove(40);
    model.table.add({ low: 7, high: 7 }, 40);
    model.digests[40] = { low: 7, high: 7 };

    model.check();
    expect(model.table.find({ low: 40 * 2048, high: 0 })).to.equal(NO_ENTRY);
  });

  it("grows and shrinks, and loses nothing on the way", () => {
    const table = new BucketTable();
    const count = 100_000;

    for (let entry = 0; entry < count; entry++) table.add(digestOf(entry), entry);
    const found = Array.from({ length: count }, (_each, entry) => table.find(digestOf(entry)));
    for (let entry = count - 2; entry >= 10; entry--) {
      table.remove(entry);
      table.renumber(entry + 1, entry);
    }
    const left = Array.from({ length: count }, (_each, entry) => table.find(digestOf(entry)));

    expect(found.every((number, entry) => number === entry)).to.equal(true);
    expect(table.size).to.equal(11);
    expect(left.map((number, entry) => [number, entry]).filter(([number]) => number !== NO_ENTRY)).to.deep.equal([
      ...Array.from({ length: 10 }, (_each, entry) => [entry, entry]),
      [10, count - 1],
    ]);
  });
});
