import { expect } from "chai";
import * as observe from "../../lib/entries/observe.js";

describe("span names", () => {
  it("are these, in this order", () => {
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

  it("have a constant each", () => {
    const { REQUEST, DB_QUERY, CACHE_GET, JOB_HANDLE, PAGE_RENDER, EVENT_LISTENER, SCHEDULE_TICK } = observe;

    expect([REQUEST, DB_QUERY, CACHE_GET, JOB_HANDLE, PAGE_RENDER, EVENT_LISTENER, SCHEDULE_TICK]).to.deep.equal(
      observe.ALL,
    );
  });

  it("are stable, and others are not", () => {
    expect(observe.ALL.every(observe.isStable)).to.equal(true);
    expect(["framework.requests", "Framework.Request", "request", ""].some(observe.isStable)).to.equal(false);
  });
});
