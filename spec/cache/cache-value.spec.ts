import { expect } from "chai";
import { expectTtl, MAX_CACHE_VALUE_LENGTH, readCacheValue, writeCacheValue } from "../../lib/cache/cache-value.js";
import { FrameworkError } from "../../lib/errors/framework-error.js";
import { errorOf } from "../support/error-of.js";

describe("a cached value", () => {
  for (const value of [null, false, 0, "", "text", [], { a: [1, { b: null }] }]) {
    it(`is read as it was written: ${JSON.stringify(value)}`, () => {
      expect(readCacheValue("k", writeCacheValue("k", value))).to.deep.equal(value);
    });
  }

  const cyclic: unknown[] = [];
  cyclic.push(cyclic);
  const unwritable: readonly (readonly [string, unknown])[] = [
    ["undefined", undefined],
    ["a function", () => 1],
    ["a bigint", 1n],
    ["a cycle", cyclic],
    ["an object whose toJSON throws", { toJSON: () => expect.fail("toJSON") }],
    ["more than 64 MiB", "x".repeat(MAX_CACHE_VALUE_LENGTH)],
  ];
  for (const [title, value] of unwritable) {
    it(`is not ${title}`, () => {
      const error = errorOf(() => writeCacheValue("the key:7", value));

      expect(error).to.be.instanceOf(FrameworkError).with.property("code", "E_CACHE_VALUE");
      expect(error.message).to.contain('"the key:…"');
    });
  }

  it("is an error, not a miss, if its text in the store is not JSON", () => {
    const error = errorOf(() => readCacheValue("the key:7", "{not json"));

    expect(error).to.be.instanceOf(FrameworkError).with.property("code", "E_CACHE_VALUE");
    expect(error.message).to.contain('"the key:…"').and.not.to.contain("{not json");
  });

  for (const ttl of [0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    it(`cannot have a ttl of ${ttl} ms`, () => {
      const error = errorOf(() => expectTtl(ttl));

      expect(error).to.be.instanceOf(FrameworkError).with.property("code", "E_CACHE_TTL");
      expect(error.message).to.contain(String(ttl));
    });
  }
});
