/** An idle application does nothing: it sets no timer beyond those of a bare server of Node. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import type { Idleness } from "./idle-process.js";

const PROGRAM = fileURLToPath(new URL("idle-process.js", import.meta.url));

async function idlenessOf(what: "application" | "bare"): Promise<Idleness> {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, what]);
  // It prints nothing else.
  return JSON.parse(stdout) as Idleness;
}

describe("an idle application with every stage on", function () {
  this.timeout(120_000);
  this.slow(8000);

  it("has only the timers of a bare server, and runs as few callbacks, after requests of all kinds", async () => {
    const [bare, application] = await Promise.all([idlenessOf("bare"), idlenessOf("application")]);

    expect(application.responses).to.deep.equal([200, 200, 200, 302, 404, 413, 500, 408]);
    expect(application.timers).to.deep.equal(bare.timers);
    expect(application.active.filter((each) => /Timeout|Immediate/.test(each))).to.deep.equal([]);
    expect(application.wakes).to.equal(bare.wakes);
  });
});
