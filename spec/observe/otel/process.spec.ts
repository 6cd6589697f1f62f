import { execFile } from "node:child_process";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { BlackHole } from "./black-hole.js";
import { Collector } from "./collector.js";

const run = promisify(execFile);
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
/** An address without a collector. */
const NO_COLLECTOR = "http://127.0.0.1:9";
/** A program reads no declarations and no source maps, which are two thirds of the files. */
const isRead = (path: string) => !/\.(?:d\.ts|map)$/.test(path);
/** The time limit of a child process, in milliseconds. */
const LIMIT = 100_000;

describe("a process with a Telemetry", function () {
  this.timeout(120_000);

  it("does not change globals, listeners and environment", async () => {
    const { before, imported, used, after, spans } = JSON.parse(await child("child-globals.js"));

    expect(spans).to.equal(2);
    expect(imported).to.deep.equal(before);
    expect(used).to.deep.equal(before);
    expect(after).to.deep.equal(before);
    expect(before.keys.filter((key: string) => key.includes("opentelemetry"))).to.deep.equal([]);
  });

  it("uses bounded memory without a collector", async () => {
    const { grown, dropped } = JSON.parse(await child("child-load.js", NO_COLLECTOR));

    expect(grown).to.be.below(10);
    expect(dropped).to.be.above(60_000);
  });

  it("uses bounded memory with a collector that does not respond", async () => {
    const hole = await BlackHole.open();

    const { grown, dropped } = JSON.parse(await child("child-load.js", hole.endpoint));
    hole.close();

    expect(grown).to.be.below(10);
    expect(dropped).to.be.above(60_000);
  });

  it("keeps only the truncated part of a text", async () => {
    const hole = await BlackHole.open();

    const { grown } = JSON.parse(await child("child-texts.js", hole.endpoint));
    hole.close();

    // The child recorded a hundred megabytes of text.
    expect(grown).to.be.below(10);
  });

  it("ends by itself after a shutdown", async () => {
    const collector = await Collector.start();

    const output = await child("child-exit.js", collector.endpoint, "shutdown", "10000");
    collector.stop();

    expect(output).to.equal("");
    expect(collector.spans).to.have.length(1);
  });

  it("ends by itself after a shutdown without a response", async () => {
    const hole = await BlackHole.open();

    const output = await child("child-exit.js", hole.endpoint, "shutdown", "300");
    hole.close();

    expect(output).to.include("not delivered");
  });

  it("ends by itself without a shutdown, and loses the waiting spans", async () => {
    const collector = await Collector.start();

    await child("child-exit.js", collector.endpoint, "no shutdown", "10000");
    collector.stop();

    expect(collector.spans).to.deep.equal([]);
  });

  it("ends by itself while a refused batch waits for its next attempt", async () => {
    // The delay of the first batch and the wait for the second attempt; no further wait.
    expect(await child("child-refused.js", NO_COLLECTOR)).to.equal("2\n");
  });
});

describe("the entry point without its optional packages", function () {
  this.timeout(120_000);
  let away: string;

  before(async () => {
    away = await mkdtemp(join(tmpdir(), "no-peers-"));
    await cp(here("../../../lib"), join(away, "dist/lib"), { recursive: true, filter: isRead });
    await cp(here("../../../../package.json"), join(away, "package.json"));
  });

  after(() => rm(away, { recursive: true }));

  it("throws on import and names the packages to install", async () => {
    const script = `import("./dist/lib/entries/observe-otel.js").catch(({ code, message }) => console.log(JSON.stringify({ code, message })))`;

    const { stdout } = await run(process.execPath, ["--input-type=module", "-e", script], {
      cwd: away,
      timeout: LIMIT,
    });

    const { code, message } = JSON.parse(stdout);
    expect(code).to.equal("E_PEER_MISSING");
    expect(message).to.include("@stagecraft/framework/observe/otel needs the package @opentelemetry/api");
    expect(message).to.match(/npm install .*api@\S+ .*exporter-trace-otlp-grpc@\S+$/);
  });
});

async function child(script: string, ...args: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, ["--expose-gc", here(script), ...args], { timeout: LIMIT });
  return stdout;
}
