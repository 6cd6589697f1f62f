/** The text of an API token, as pure functions. */
import { crc32 } from "node:zlib";
import { expect } from "chai";
import { assert, constantFrom, nat, property, tuple } from "fast-check";
import {
  createTokenText,
  hasChecksum,
  isTokenLike,
  isTokenPrefix,
  toTokenHash,
} from "../../../lib/auth/tokens/token-text.js";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** A second reading of base62. */
const fromBase62 = (text: string) =>
  Array.from(text).reduce((sum, digit) => sum * 62n + BigInt(DIGITS.indexOf(digit)), 0n);

describe("the text of an API token", () => {
  it("fits the expression of the guide, and has the checksum of what is before it", () => {
    for (let at = 0; at < 200; at++) {
      const text = createTokenText("shop_test");
      expect(text).to.match(/^shop_test_[0-9A-Za-z]{33}$/);
      expect(fromBase62(text.slice(-6))).to.equal(BigInt(crc32(text.slice(0, -6))));
      expect(fromBase62(text.slice(10, -6)) < 2n ** 160n).to.equal(true);
      expect([isTokenLike(text, "shop_test"), hasChecksum(text)]).to.deep.equal([true, true]);
    }
  });

  it("uses all of its 160 bits", () => {
    const bits = { set: 0n, unset: 0n };
    for (let at = 0; at < 200; at++) {
      const value = fromBase62(createTokenText("sct").slice(4, -6));
      bits.set |= value;
      bits.unset |= ~value;
    }
    const all = 2n ** 160n - 1n;
    expect([bits.set & all, bits.unset & all]).to.deep.equal([all, all]);
  });

  it("loses its checksum with any other character", () => {
    const text = createTokenText("sct");
    const change = tuple(nat(text.length - 1), constantFrom(...DIGITS.split("")));
    assert(
      property(change, ([at, digit]) => {
        const changed = text.slice(0, at) + digit + text.slice(at + 1);
        return hasChecksum(changed) === (changed === text);
      }),
    );
  });

  it("is no token with another prefix or length, or as another value", () => {
    const text = createTokenText("sct");
    for (const other of [`${text}0`, text.slice(1), ` ${text.slice(1)}`, text.toUpperCase(), "", "x".repeat(100_000)])
      expect(isTokenLike(other, "sct"), other.slice(0, 50)).to.equal(false);
    for (const other of [undefined, null, 7, [text]]) expect(isTokenLike(other as never, "sct")).to.equal(false);
  });

  it("is stored as SHA-256", () => {
    expect(toTokenHash("abc")).to.equal("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  });
});

describe("the prefix of API tokens", () => {
  for (const prefix of ["sct", "shop", "shop_test", "s3", "a234567890123456"])
    it(`may be ${prefix}`, () => expect(isTokenPrefix(prefix)).to.equal(true));

  for (const prefix of [
    "",
    "s",
    "3s",
    "Shop",
    "shop_",
    "_shop",
    "shop__test",
    "shop-test",
    "a2345678901234567",
    "shöp",
    7,
    undefined,
  ])
    it(`may not be ${JSON.stringify(prefix)}`, () => expect(isTokenPrefix(prefix)).to.equal(false));
});
