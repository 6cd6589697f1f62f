/** The schedule of the sample: the sweep of each night, in an application whose clock the spec sets. */
import { FakeClock, testApp } from "@stagecraft/framework/testing";
import { provide, Clock } from "@stagecraft/framework";
import { expect } from "chai";
import { linksApplication } from "../../samples/links/application.js";
import { LinkStore } from "../../samples/links/link-store.js";
import { settingsFrom } from "../../samples/links/settings.js";
import { until } from "../support/until.js";

const DAY_MS = 86_400_000;

describe("the sweep of samples/links", function () {
  this.timeout(120_000);

  it("removes unused links at half past three in the night", async () => {
    const clock = new FakeClock(Date.parse("2026-01-01T03:29:00Z"));
    await using app = await testApp(linksApplication(settingsFrom({})), provide(Clock).useValue(clock));
    const store = app.resolve(LinkStore);
    const before = clock.now();
    clock.setNow(before - 100 * DAY_MS);
    await store.add("unused", "https://example.com/");
    clock.setNow(before);
    await store.add("new", "https://example.com/");
    await until(async () => {
      await clock.advanceAsync(10_000);
      return (await store.totals()).links === 1;
    });

    expect((await store.list({ query: "", count: 9 })).map(({ slug }) => slug)).to.deep.equal(["new"]);
    expect(new Date(clock.now()).toISOString().slice(11, 16)).to.match(/^03:3[0-9]$/);
  });
});
