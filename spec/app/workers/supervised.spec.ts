/** `runWorkers()` where another program supervises the process: it is `run()`. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect } from "chai";
import { newFolder } from "../../support/new-folder.js";
import { WorkersUnderTest } from "./workers-under-test.js";

const PROGRAM = fileURLToPath(new URL("workers-program.js", import.meta.url));

describe("runWorkers() under another supervisor", () => {
  it("serves in one process under the development server, and ends with its input", async () => {
    using folder = newFolder();
    const path = join(folder.path, "app.sock");
    await using workers = await WorkersUnderTest.spawn(2, { FRAMEWORK_APP_IPC: path });
    await workers.says("listening");

    expect(workers.log).to.include(`at=${path}`).and.to.not.include("starting workers");
    expect(workers.listPids()).to.deep.equal([]);
    workers.parent.endInput();
    expect(await workers.parent.exitCode()).to.equal(0);
  });

  it("serves in one process, which says so, in a worker of another cluster", async () => {
    using folder = newFolder();
    const primary = join(folder.path, "primary.mjs");
    const program = `
      import cluster from "node:cluster";
      cluster.setupPrimary({ exec: ${JSON.stringify(PROGRAM)} });
      const worker = cluster.fork();
      process.on("SIGTERM", () => worker.process.kill("SIGTERM"));
      worker.on("exit", (code) => process.exit(code));`;
    writeFileSync(primary, program);
    await using workers = await WorkersUnderTest.spawn(2, {}, pathToFileURL(primary).href);
    await workers.says("listening");
    const pids = workers.listPids();

    expect(workers.log).to.include("runWorkers() serves in this process alone");
    expect(pids.map(String)).to.deep.equal([(await workers.ask("/pid")).text]);
    workers.parent.kill("SIGTERM");
    expect(await workers.parent.exitCode()).to.equal(0);
  });
});
