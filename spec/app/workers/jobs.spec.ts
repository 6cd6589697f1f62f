/** Real processes with jobs in a database: requests dispatch them in all workers, and one worker at a time works them. */
import { join } from "node:path";
import { expect } from "chai";
import { Child } from "../../support/child.js";
import { newFolder } from "../../support/new-folder.js";
import { until } from "../../support/until.js";

/** Dispatches one job over a new connection. @returns the process that has dispatched it */
async function greet(child: Child): Promise<number> {
  const response = await fetch(`${child.url}/greet`, { method: "POST", headers: { Connection: "close" } });
  return Number(await response.text());
}

/** The processes of the jobs that have run. */
function listGreeting(child: Child): readonly number[] {
  return [...child.output.matchAll(/greets (\d+)\n/g)].map(([, pid]) => Number(pid));
}

describe("jobs of workers", function () {
  this.timeout(60_000);
  this.slow(15_000);

  it("run once each, in one worker, whichever dispatches them; another one goes on when it is killed", async () => {
    using folder = newFolder();
    const environment = { NODE_ENV: "production", DATABASE_FILE: join(folder.path, "shop.db") };
    await using child = await Child.start("../app/workers/jobs-program.js", environment);
    await until(() => child.errors.split('"worker ready"').length > 2);

    const dispatching = new Set(await Promise.all(Array.from({ length: 10 }, () => greet(child))));
    await until(() => listGreeting(child).length >= 10);
    const [first = 0] = listGreeting(child);
    expect(dispatching.size).to.equal(2);
    expect(listGreeting(child)).to.deep.equal(Array.from({ length: 10 }, () => first));

    process.kill(first, "SIGKILL");
    await until(() => child.errors.split('"worker ready"').length > 3);
    await greet(child);
    await until(() => listGreeting(child).length > 10);
    child.kill("SIGTERM");

    expect(await child.exitCode()).to.equal(0);
    const [, ...others] = [...new Set(listGreeting(child))];
    expect(others).to.have.lengthOf(1);
    expect(listGreeting(child)).to.have.lengthOf(11);
  });
});
