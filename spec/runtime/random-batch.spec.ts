import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { expect } from "chai";
import { RandomBatch } from "../../lib/runtime/random-batch.js";

/** 18 bytes in standard base64, without padding: a nonce. */
const base64 = (valuesPerBatch = 7) => RandomBatch.ofText(18, valuesPerBatch, (bytes) => bytes.toString("base64"));
const slices = (valuesPerBatch = 7) => new RandomBatch(16, valuesPerBatch, (bytes, at) => bytes.subarray(at, at + 16));

function draw<T>(batch: RandomBatch<T>, count: number): T[] {
  return Array.from({ length: count }, () => batch.next());
}

/** Runs `use` and returns the bytes that it takes from `crypto.randomBytes`. */
function bytesTakenBy(use: () => void): readonly Buffer[] {
  const { randomBytes } = crypto;
  const taken: Buffer[] = [];
  crypto.randomBytes = (size: number) => {
    const bytes = randomBytes(size);
    taken.push(bytes);
    return bytes;
  };
  // Modules that import the function by its name see the change, and the change back.
  syncBuiltinESMExports();
  try {
    use();
  } finally {
    crypto.randomBytes = randomBytes;
    syncBuiltinESMExports();
  }
  return taken;
}

describe("RandomBatch", () => {
  it("gives values of one size, each different, across its batches", () => {
    const values = draw(slices(), 100).map((value) => value.toString("hex"));

    expect(values.every((value) => /^[\da-f]{32}$/.test(value))).to.equal(true);
    expect(new Set(values).size).to.equal(100);
  });

  it("gives text of one length, each different, across its batches", () => {
    const values = draw(base64(), 100);

    expect(values.every((value) => /^[A-Za-z0-9+/]{24}$/.test(value))).to.equal(true);
    expect(new Set(values).size).to.equal(100);
  });

  it("keeps the values of earlier batches as they are", () => {
    const batch = slices(2);
    const [first] = draw(batch, 1);
    const text = first?.toString("hex");

    draw(batch, 10);

    expect(first?.toString("hex")).to.equal(text);
  });

  it("fetches nothing before the first value", () => {
    expect(bytesTakenBy(() => void [slices(), base64()])).to.have.lengthOf(0);
  });

  it("fetches the bytes of a batch in one call of Node's random source, and uses each byte once, in order", () => {
    let values: readonly Buffer[] = [];

    const taken = bytesTakenBy(() => (values = draw(slices(7), 21)));

    expect(taken.map(({ length }) => length)).to.deep.equal([112, 112, 112]);
    expect(Buffer.concat(values)).to.deep.equal(Buffer.concat(taken));
  });

  it("cuts the text of a batch without loss", () => {
    let values: readonly string[] = [];

    const taken = bytesTakenBy(() => (values = draw(base64(7), 21)));

    expect(values.join("")).to.equal(Buffer.concat(taken).toString("base64"));
  });

  it("shares nothing with another batch", () => {
    expect(base64().next()).not.to.equal(base64().next());
  });
});
