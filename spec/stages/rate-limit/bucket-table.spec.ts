import { expect } from "chai";
import * as fc from "fast-check";
import { BucketTable, KeyHash, NO_ENTRY } from "../../../lib/stages/rate-limit/bucket-table.js";
import { anyText } from "../../support/any-text.js";

interface Hash {
  readonly low: number;
  readonly high: number;
}

/** Some hashes of the same few slots, also at both ends of the table, and some random ones. */
const hashes = fc.record({
  low: fc.oneof(fc.constantFrom(2046, 2047, 4095, -1, 0, 1), fc.integer()),
  high: fc.constantFrom(0, 1, 2),
});

/** The table beside a plain list of its hashes, by number. */
class Model {
  readonly table = new BucketTable();
  readonly hashes: Hash[] = [];

  take(hash: Hash): void {
    const known = this.hashes.findIndex(({ low, high }) => low === hash.low && high === hash.high);
    expect(this.table.find(hash)).to.equal(known < 0 ? NO_ENTRY : known);
    if (known >= 0) return;
    this.table.add(hash, this.hashes.length);
    this.hashes.push(hash);
  }

  remove(entry: number): void {
    this.table.remove(entry);
    const last = this.hashes.pop();
    if (last === undefined || entry === this.hashes.length) return;
    this.hashes[entry] = last;
    this.table.renumber(this.hashes.length, entry);
  }

  check(): void {
    expect(this.table.size).to.equal(this.hashes.length);
    this.hashes.forEach((hash, entry) => expect(this.table.find(hash)).to.equal(entry));
  }
}

function hashOf(entry: number): Hash {
  return { low: Math.imul(entry, 0x9e3779b1), high: entry };
}

describe("BucketTable", () => {
  it("finds the hashes that it contains and no others, after any sequence of steps", () => {
    const steps = fc.array(fc.oneof({ weight: 3, arbitrary: hashes }, { weight: 2, arbitrary: fc.nat() }), {
      maxLength: 200,
    });

    fc.assert(
      fc.property(steps, (sequence) => {
        const model = new Model();

        for (const step of sequence) {
          if (typeof step === "object") model.take(step);
          else if (model.hashes.length > 0) model.remove(step % model.hashes.length);
        }

        model.check();
      }),
    );
  });

  it("gives the number of a removed entry to a new one", () => {
    const model = new Model();
    for (let low = 0; low < 100; low++) model.take({ low: low * 2048, high: 0 });

    model.table.remove(40);
    model.table.add({ low: 7, high: 7 }, 40);
    model.hashes[40] = { low: 7, high: 7 };

    model.check();
    expect(model.table.find({ low: 40 * 2048, high: 0 })).to.equal(NO_ENTRY);
  });

  it("retains its entries while it grows and shrinks", () => {
    const table = new BucketTable();
    const count = 100_000;

    for (let entry = 0; entry < count; entry++) table.add(hashOf(entry), entry);
    const found = Array.from({ length: count }, (_each, entry) => table.find(hashOf(entry)));
    for (let entry = count - 2; entry >= 10; entry--) {
      table.remove(entry);
      table.renumber(entry + 1, entry);
    }
    const left = Array.from({ length: count }, (_each, entry) => table.find(hashOf(entry)));

    expect(found.every((number, entry) => number === entry)).to.equal(true);
    expect(table.size).to.equal(11);
    expect(left.map((number, entry) => [number, entry]).filter(([number]) => number !== NO_ENTRY)).to.deep.equal([
      ...Array.from({ length: 10 }, (_each, entry) => [entry, entry]),
      [10, count - 1],
    ]);
  });
});

const SECRET = Buffer.from("0001020304050607", "hex");

function hashText(text: string, secret = SECRET): string {
  const { high, low } = new KeyHash(secret).compute(text);
  return `${high} ${low}`;
}

function bitsOf(value: number): number {
  return (value >>> 0).toString(2).replaceAll("0", "").length;
}

describe("KeyHash", () => {
  it("is the same for the same text, independent of earlier texts", () => {
    const hash = new KeyHash(SECRET);

    fc.assert(
      fc.property(anyText(), (text) => {
        const { high, low } = hash.compute(text);

        expect(`${high} ${low}`).to.equal(hashText(text));
      }),
    );
  });

  it("differs for different texts, also for texts that differ in trailing NUL characters only", () => {
    const texts = ["", "\0", "\0\0", "\0\0\0", "a", "a\0", "\0a", "ab", "ba", "ab\0", "a".repeat(127), "a".repeat(128)];

    expect(new Set(texts.map((text) => hashText(text))).size).to.equal(texts.length);
  });

  it("differs for a million similar keys", () => {
    const hash = new KeyHash();
    const lows = new Uint32Array(1_000_000);
    const both = new BigUint64Array(1_000_000);
    const halves = new Uint32Array(both.buffer);

    for (let key = 0; key < 1_000_000; key++) {
      const { high, low } = hash.compute(`10.${key >> 16}.${(key >> 8) & 255}.${key & 255}`);
      lows[key] = low;
      halves.set([low, high], 2 * key);
    }

    expect(duplicates(both)).to.equal(0);
    // Of a million random values of 32 bits, 116 on average are duplicates.
    expect(duplicates(lows)).to.be.within(50, 200);
  }).slow(4000);

  it("changes half of its bits when one bit of the text or of the secret changes", () => {
    let changed = 0;
    let tries = 0;
    const compare = (one: KeyHash, other: KeyHash): void => {
      changed += bitsOf(one.high ^ other.high) + bitsOf(one.low ^ other.low);
      tries += 1;
    };

    for (let bit = 0; bit < 16; bit++) {
      for (let key = 0; key < 50; key++) {
        const text = `client ${key}`;
        const turned = String.fromCharCode(text.charCodeAt(0) ^ (1 << bit)) + text.slice(1);
        compare(new KeyHash(SECRET).compute(text), new KeyHash(SECRET).compute(turned));
        const secret = Buffer.from(SECRET);
        secret.writeUInt8(secret.readUInt8(bit % 8) ^ (1 << (key % 8)), bit % 8);
        compare(new KeyHash(SECRET).compute(text), new KeyHash(secret).compute(text));
      }
    }

    expect(changed / tries).to.be.within(31, 33);
  });

  it("has a random secret per instance", () => {
    const [one, other] = [new KeyHash().compute("key"), new KeyHash().compute("key")];

    expect([one.high, one.low]).not.to.deep.equal([other.high, other.low]);
  });
});

/** How many values equal an earlier one. A set of a million values takes a second longer. */
function duplicates(values: Uint32Array | BigUint64Array): number {
  values.sort();
  let count = 0;
  for (let at = 1; at < values.length; at++) if (values[at] === values[at - 1]) count += 1;
  return count;
}
