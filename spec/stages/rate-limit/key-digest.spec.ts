import { expect } from "chai";
import * as fc from "fast-check";
import { KeyHash } from "../../../lib/stages/rate-limit/bucket-table.js";

const SECRET = Buffer.from("0001020304050607", "hex");

function of(text: string, secret = SECRET): string {
  const { high, low } = new KeyHash(secret).of(text);
  return `${high} ${low}`;
}

function bitsOf(value: number): number {
  return (value >>> 0).toString(2).replaceAll("0", "").length;
}

describe("KeyDigest", () => {
  it("is the same for the same text, whatever was digested before", () => {
    const digest = new KeyHash(SECRET);

    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const { high, low } = digest.of(text);

        expect(`${high} ${low}`).to.equal(of(text));
      }),
    );
  });

  it("is another one for another text, also where it is longer by what counts for nothing elsewhere", () => {
    const texts = ["", "\0", "\0\0", "\0\0\0", "a", "a\0", "\0a", "ab", "ba", "ab\0", "a".repeat(127), "a".repeat(128)];

    expect(new Set(texts.map((text) => of(text))).size).to.equal(texts.length);
  });

  it("tells a million keys apart that differ little", () => {
    const digest = new KeyHash();
    const lows = new Set<number>();
    const both = new Set<bigint>();

    for (let key = 0; key < 1_000_000; key++) {
      const { high, low } = digest.of(`10.${key >> 16}.${(key >> 8) & 255}.${key & 255}`);
      lows.add(low);
      both.add((BigInt(high) << 32n) ^ BigInt(low >>> 0));
    }

    expect(both.size).to.equal(1_000_000);
    // As many of 32 bits fall together as would by chance: 116 on average.
    expect(1_000_000 - lows.size).to.be.within(50, 200);
  }).slow(4000);

  it("changes half of its bits with every bit of the text and of the secret", () => {
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
        compare(new KeyHash(SECRET).of(text), new KeyHash(SECRET).of(turned));
        const secret = Buffer.from(SECRET);
        secret.writeUInt8(secret.readUInt8(bit % 8) ^ (1 << (key % 8)), bit % 8);
        compare(new KeyHash(SECRET).of(text), new KeyHash(secret).of(text));
      }
    }

    expect(changed / tries).to.be.within(31, 33);
  });

  it("draws a secret of its own", () => {
    const [one, other] = [new KeyHash().of("key"), new KeyHash().of("key")];

    expect([one.high, one.low]).not.to.deep.equal([other.high, other.low]);
  });
});
