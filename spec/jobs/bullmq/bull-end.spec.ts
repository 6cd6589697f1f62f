/** The end of a process that works on jobs in BullMQ. */
import { expect } from "chai";
import { Child } from "../../support/child.js";
import { needRedis, RedisServer } from "../../support/redis-server.js";

describe("a process that works on jobs in BullMQ", function () {
  this.timeout(60_000);
  this.slow(15_000);
  before(function () {
    needRedis(this);
  });

  for (const [what, meets] of [
    ["while Redis answers", undefined],
    ["after Redis was killed", (server: RedisServer) => server.kill()],
    ["while Redis is halted", (server: RedisServer) => server.halt()],
  ] as const) {
    it(`leaves no connection and no timer when it has stopped ${what}`, async () => {
      await using server = await RedisServer.start();
      await using child = await Child.start("../jobs/bullmq/end-process.js", { REDIS: server.url });
      await child.says("works");
      await meets?.(server);
      child.endInput();

      expect(await child.exitCode()).to.equal(0);
      expect(child.output).to.include("stopped");
      expect(child.errors).to.equal("");
    });
  }
});
