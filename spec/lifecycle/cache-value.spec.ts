import { expect } from "chai";
import { FrameworkError } from "../../lib/errors/framework-error.js";
import { expectTtl, LARGEST_CACHE_VALUE, readCacheValue, writeCacheValue } from "../../lib/lifecycle/cache.js";
import { errorOf } from "../support/error-of.js";

describe("a cached value", () => {
  for (const value of [null, false, 0, "", "text", [], { a: [1, { b: null }] }]) {
    it(`comes back as it was: ${JSON.stringify(value)}`, () => {
      expect(readCacheValue("k", writeCacheValue("k", value))).to.deep.equal(value);
    });
  }

  const cyclic: unknown[] = [];
  cyclic.push(cyclic);
  const unsayable: readonly (readonly [string, unknown])[] = [
    ["nothing", undefined],
    ["a function", () => 1],
    ["a bigint", 1n],
    ["a cycle", cyclic],
    ["what refuses to be written", { toJSON: () => expect.fail("not me") }],
    ["more than 64 MiB", "x".repeat(LARGEST_CACHE_VALUE)],
  ];
  for (const [title, value] of unsayable) {
    it(`is not ${title}`, () => {
      const error = errorOf(() => writeCacheValue("the key", value));

      expect(error).to.be.instanceOf(FrameworkError).with.property("code", "E_CACHE_VALUE");
      expect(error.message).to.contain('"the key"');
    });
  }

  it("that someone else has spoiled is an error, not a miss", () => {
    const error = errorOf(() => readCacheValue("the key", "{not json"));

    expect(error).to.be.instanceOf(FrameworkError).with.property("code", "E_CACHE_VALUE");
    expect(error.message).to.contain('"the key"').and.not.to.contain("{not json");
  });

  for (const ttl of [0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    it(`does not live for ${ttl} ms`, () => {
      const error = errorOf(() => expectTtl(ttl));

      expect(error).to.be.instanceOf(FrameworkError).with.property("code", "E_CACHE_TTL");
      expect(error.message).to.contain(String(ttl));
    });
  }
});
