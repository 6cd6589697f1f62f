import { expect } from "chai";
import * as observe from "../../lib/entries/observe.js";

describe("span names", () => {
  it("are seven, in this order", () => {
    expect(observe.ALL).to.deep.equal([
      "framework.request",
      "framework.db.query",
      "framework.cache.get",
      "framework.job.handle",
      "framework.page.render",
      "framework.event.listener",
      "framework.schedule.tick",
    ]);
    expect(Object.isFrozen(observe.ALL)).to.equal(true);
  });

  it("each have a constant", () => {
    const { REQUEST, DB_QUERY, CACHE_GET, JOB_HANDLE, PAGE_RENDER, EVENT_LISTENER, SCHEDULE_TICK } = observe;

    expect([REQUEST, DB_QUERY, CACHE_GET, JOB_HANDLE, PAGE_RENDER, EVENT_LISTENER, SCHEDULE_TICK]).to.deep.equal(
      observe.ALL,
    );
  });

  it("are stable, and other names are not", () => {
    expect(observe.ALL.every(observe.isStable)).to.equal(true);
    expect(["framework.requests", "Framework.Request", "request", ""].some(observe.isStable)).to.equal(false);
  });
});
