import { cacheKey, MemoryCache } from "@stagecraft/framework/cache";
import { expect } from "chai";
import { z } from "zod";
import { errorOf } from "../support/error-of.js";
import { rejectionOf } from "../support/rejection-of.js";

const HOUR_MS = 3_600_000;
const LINK = cacheKey("link", z.object({ url: z.string() }));

describe("cacheKey", () => {
  it("types the results of remember and get", async () => {
    const cache = new MemoryCache();

    const made: { url: string } = await cache.remember(LINK.of(7), HOUR_MS, () => ({ url: "/7" }));
    const read: { url: string } | undefined = await cache.get(LINK.of(7));
    // @ts-expect-error a number is not a link
    void cache.remember(LINK.of(8), HOUR_MS, () => 8);
    const count = await cache.get(cacheKey<number>("count"));

    expect([made, read, count]).to.deep.equal([{ url: "/7" }, { url: "/7" }, undefined]);
  });

  it("keeps the parts of a key apart", () => {
    expect(LINK.of("a:b", "c").name).not.to.equal(LINK.of("a", "b:c").name);
    expect(LINK.of("a%3Ab").name).not.to.equal(LINK.of("a:b").name);
  });

  it("refuses a part that is not well-formed Unicode, and does not repeat it", () => {
    expect(errorOf(() => LINK.of("secret \ud800")))
      .to.include({ code: "E_CACHE_KEY" })
      .with.property("message")
      .that.does.not.include("secret");
  });

  it("refuses a stored value that does not fit its schema, and does not repeat it", async () => {
    const cache = new MemoryCache();
    await cache.set("link:7", { address: "the secret" }, HOUR_MS);
    const error = await rejectionOf(cache.get(LINK.of(7)));

    expect(error).to.include({ code: "E_CACHE_VALUE", status: 500 });
    expect(String(error)).not.to.contain("secret");
  });
});
