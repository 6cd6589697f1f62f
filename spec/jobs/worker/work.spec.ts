/** `application.work()` as a process: it listens to nothing, runs jobs, and lets them end at a signal. */
import { expect } from "chai";
import { Child } from "../../support/child.js";

describe("application.work()", function () {
  this.timeout(60_000);
  this.slow(3000);

  it("runs jobs without a listener, and ends them before it stops the subsystems that they use", async () => {
    await using child = await Child.start("../jobs/worker/work-process.js");
    await child.says("job begins");
    process.kill(child.pid ?? 0, "SIGTERM");

    expect(await child.exitCode()).to.equal(0);
    expect(child.output).to.equal("mail starts\njob begins\njob ends\nmail stops\nover\n");
    expect(child.errors).to.equal("");
  });
});
