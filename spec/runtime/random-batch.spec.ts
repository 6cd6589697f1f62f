import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { expect } from "chai";
import { RandomBatch } from "../../lib/runtime/random-batch.js";

describe("NonceSource", () => {
  it("gives 18 bytes in standard base64, each time others, across its batches", () => {
    const source = new RandomBatch();

    const nonces = Array.from({ length: 1000 }, () => source.next());

    expect(nonces.every((nonce) => /^[A-Za-z0-9+/]{24}$/.test(nonce))).to.equal(true);
    expect(new Set(nonces).size).to.equal(1000);
  });

  it("gives out no byte twice", () => {
    const source = new RandomBatch();

    const nonces = Array.from({ length: 600 }, () => source.next());
    const halves = nonces.flatMap((nonce) => [nonce.slice(0, 12), nonce.slice(12)]);

    expect(new Set(halves).size).to.equal(1200);
  });

  it("uses every bit", () => {
    const source = new RandomBatch();

    const union = Buffer.alloc(18);
    for (let round = 0; round < 200; round++) {
      Buffer.from(source.next(), "base64").forEach((byte, at) => (union[at] = (union[at] ?? 0) | byte));
    }

    expect([...union]).to.deep.equal(Array.from({ length: 18 }, () => 255));
  });

  it("takes its bytes from Node's CSPRNG, and from nowhere else", () => {
    const { randomBytes } = crypto;
    const given: Buffer[] = [];
    crypto.randomBytes = (size: number) => {
      const bytes = randomBytes(size);
      given.push(bytes);
      return bytes;
    };
    // Whoever imported the function by its name sees the change, and the change back.
    syncBuiltinESMExports();
    try {
      const source = new RandomBatch();

      const nonces = Array.from({ length: 600 }, () => source.next()).join("");

      expect(Buffer.concat(given).toString("base64").slice(0, nonces.length)).to.equal(nonces);
    } finally {
      crypto.randomBytes = randomBytes;
      syncBuiltinESMExports();
    }
  });

  it("shares nothing with another source", () => {
    expect(new RandomBatch().next()).not.to.equal(new RandomBatch().next());
  });
});
