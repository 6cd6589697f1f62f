/** The text that `run()` writes to standard error in a process without a log subscriber. */
import { expect } from "chai";
import { freePort } from "../support/free-port.js";
import { runProgram, type Ended } from "../support/program.js";

/** Runs the application that `builder` builds, and sends SIGTERM as soon as it serves. */
async function serveOnce(builder: string, prelude = ""): Promise<Ended> {
  const port = await freePort();
  return runProgram(`
    const { Application, provide, Subsystem } = await load("entries/main.js");
    ${prelude}
    const running = ${builder}.lifecycle({ drainDelayMs: 0 }).port(${port}).build().run();
    const isReady = () => getFrom("http://127.0.0.1:${port}/up/ready").then(({ status }) => status === 200, () => false);
    while (!(await isReady()));
    process.kill(process.pid, "SIGTERM");
    await running;
  `);
}

describe("run() without a log subscriber", () => {
  it("writes the warnings of the start to standard error", async () => {
    const { stderr, code } = await serveOnce(`Application.create().accessLog().staticFiles({ root: "./absent" })`);

    expect(stderr).to.contain("the access log is on and the request id is off");
    expect(stderr).to.match(/the directory of \.staticFiles\(…\) does not exist.*root: '.*absent'/);
    expect(code).to.equal(0);
  });

  it("names the subsystem that did not stop, and the provider that could not be disposed of", async () => {
    const { stderr, code } = await serveOnce(
      `Application.create().provide(
        provide(Subsystem).useValue(new Database()),
        provide(Ledger).useFactory(() => new Ledger()),
      )`,
      `class Database extends Subsystem {
        kind = "database";
        start() {}
        stop() { throw new Error("cannot let go"); }
      }
      class Ledger { dispose() { throw new Error("still open"); } }`,
    );

    expect(stderr).to.contain("failed to stop: cannot let go");
    expect(stderr).to.contain("dispose failed").and.contain("Ledger").and.contain("still open");
    expect(code).to.equal(1);
  });
});
