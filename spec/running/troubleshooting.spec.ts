/** The symptoms of production on the page "troubleshooting": what it names is in the code, and its commands run. */
import { execFile, execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { Application } from "@stagecraft/framework";
import { testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { BIN } from "../support/application-folder.js";
import { needs } from "../support/machine.js";
import { newFolder } from "../support/new-folder.js";
import { PostgresServer } from "../support/postgres-server.js";
import { sourcesBelow, textOf } from "../support/sources.js";

const [, section = ""] = (textOf("docs/guide/troubleshooting.md") ?? "").split("\n## In production\n");
const code = sourcesBelow("lib")
  .map((source) => source.code)
  .join("\n");
const run = promisify(execFile);
const watching = textOf("docs/guide/watching.md") ?? "";

function found(pattern: RegExp): readonly string[] {
  return [...new Set(section.match(pattern))];
}

/** Of a command for this process. */
function outputOf(command: string): string {
  return execFileSync("sh", ["-c", command.replace("PID", String(process.pid))], { encoding: "utf8" });
}

describe("the symptoms of production", function () {
  this.timeout(60_000);
  this.slow(5000);

  it("name codes and metrics that there are", () => {
    const names = [...found(/\bE_[A-Z_]+/g), ...found(/\bframework_\w+/g)];

    expect(names.length).to.be.greaterThan(3);
    for (const name of names) expect(code, name).to.include(name);
    for (const name of found(/\bshop_\w+/g)) expect(watching, name).to.include(`describeGauge("${name}"`);
  });

  it("name commands that there are", () => {
    const help = execFileSync(process.execPath, [BIN, "--help"], { encoding: "utf8" });
    const commands = found(/(?<=stagecraft )[\w:]+/g);

    expect(commands.length).to.be.greaterThan(3);
    for (const name of commands) expect(help, name).to.include(name);
  });
});

describe("the commands of the symptoms", function () {
  this.timeout(60_000);
  this.slow(10_000);

  it("ask an application for its checks", async () => {
    await using app = await testApp(Application.create());
    const commands = found(/(?<=`)curl [^`]+/g);

    expect(commands.length).to.equal(2);
    for (const command of commands) {
      // oxlint-disable-next-line no-await-in-loop -- one by one
      const { stdout } = await run("sh", ["-c", command.replace("http://127.0.0.1:3000", app.url)]);
      expect(stdout)
        .to.match(/^HTTP\/1\.1 200 OK/)
        .and.include('"ready":true');
    }
  });

  it("read the limits of a process and the time", () => {
    const [limits = ""] = found(/(?<=`)cat \/proc\/PID\/limits/g);
    const [time = ""] = found(/(?<=`)date --utc/g);

    expect(outputOf(limits)).to.include("Max open files");
    expect(outputOf(time)).to.match(/ UTC /);
  });

  it("write a snapshot of the heap at the signal", () => {
    const [option = ""] = found(/--heapsnapshot-signal=SIGUSR2/g);
    const program = 'process.kill(process.pid, "SIGUSR2"); setTimeout(() => {}, 100);';
    using folder = newFolder();
    execFileSync(process.execPath, [option, "--eval", program], { cwd: folder.path });
    const [file = ""] = readdirSync(folder.path);

    expect(file).to.match(/\.heapsnapshot$/);
    expect(JSON.parse(readFileSync(join(folder.path, file), "utf8"))).to.include.keys("snapshot", "nodes");
  });
});

describe("the query of the symptoms", function () {
  this.timeout(60_000);
  this.slow(15_000);
  before(needs("postgres"));

  it("names the transactions of PostgreSQL", async () => {
    const [query = ""] = found(/(?<=`)select [^`]+/g);
    await using server = await PostgresServer.start();

    expect(JSON.stringify(await server.run(query))).to.include("pg_stat_activity");
  });
});

describe("the oldest Node", () => {
  it("is that of the readme and of the decision", () => {
    const { engines } = JSON.parse(textOf("package.json") ?? "{}") as { engines: { node: string } }; // The file of this package.
    const oldest = engines.node.replace(">=", "");

    expect(textOf("README.md")).to.include(`\`engines\` stays at ${oldest}`);
    expect(textOf("docs/decisions/node-floor.md")).to.include(`Node ${oldest}`);
  });
});
