/** Commands of an application, as `stagecraft NAME` runs them. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { ApplicationFolder, runBin } from "../../support/application-folder.js";
import { ended } from "../../support/program.js";
import { ROOT } from "../../support/sources.js";

const SUBSYSTEMS = `
  import { writeSync } from "node:fs";
  import { setTimeout } from "node:timers/promises";
  import { Application, Command, Module, Subsystem } from "@stagecraft/framework";
  import { z } from "zod";
  const say = (line) => writeSync(2, line + "\\n");
  class Shelf extends Subsystem {
    kind = "storage";
    start() { say("shelf starts"); }
    stop() { say("shelf stops"); }
  }
  class Ledger extends Subsystem {
    kind = "database";
    start() { say("ledger starts"); }
    beginWork() { say("ledger works"); }
    stop() { say("ledger stops"); if (process.env.STUCK === "1") throw new Error("stuck"); }
  }
  const command = (prototype, key, ...rest) => Command(...rest)(prototype, key, Object.getOwnPropertyDescriptor(prototype, key));
`;

const APPLICATION = `${SUBSYSTEMS}
  const Values = z.object({
    month: z.string().regex(/^\\d{4}-\\d\\d$/),
    dryRun: z.boolean(),
    to: z.array(z.string()).optional(),
    copies: z.number().max(9).default(1),
    level: z.enum(["low", "high"]).optional(),
  });
  class Reports {
    send(values, { stdout }) { console.log("printed"); stdout.write(JSON.stringify(values) + "\\n"); }
    fail() { throw new Error("the printer is away"); }
    paint() { throw new Error("red\\u001b[31m \\u202e\\nand more"); }
    count() { return 7; }
    async wait(_values, { stdout, signal }) { stdout.write("waits\\n"); await setTimeout(60_000, undefined, { signal }); }
    async finish(_values, { stdout, signal }) {
      stdout.write("waits\\n");
      await new Promise((resolve) => { const timer = setInterval(() => {}, 1000); signal.onabort = () => { clearInterval(timer); resolve(); }; });
      stdout.write("finished\\n");
    }
    async ignore(_values, { stdout }) { stdout.write("waits\\n"); await setTimeout(60_000); }
    raw(values, { stdout }) { stdout.write(JSON.stringify(values) + "\\n"); }
    strict() {}
  }
  command(Reports.prototype, "send", "reports:send", Values);
  for (const key of ["fail", "paint", "count", "wait", "finish", "ignore"]) command(Reports.prototype, key, "reports:" + key);
  const anything = { "~standard": { version: 1, vendor: "spec", validate: (value) => ({ value }) } };
  command(Reports.prototype, "raw", "reports:raw", anything);
  command(Reports.prototype, "strict", "reports:strict", z.object({ verbose: z.boolean().optional() }));
  class Unlisted { send() {} }
  command(Unlisted.prototype, "send", "unlisted:send");
  Module({ providers: [Shelf, Ledger, Reports] })(class Shop {});
  export default Application.create().provide(Shelf, Ledger, Reports).lifecycle({ drainDeadlineMs: 300 });
`;

const RAN = "ledger starts\nshelf starts\nshelf stops\nledger stops\n";

describe("a command of the application", () => {
  let folder: ApplicationFolder;

  before(() => {
    folder = new ApplicationFolder({ "app.js": APPLICATION });
    folder.install("zod");
  });
  after(() => folder[Symbol.dispose]());

  it("gets its options as the values of its schema, between the start and the stop of the subsystems", async () => {
    const given = ["--month", "2026-11", "--dry-run", "--to", "ada", "--to=grace", "--copies=2"];

    const { code, stdout, stderr } = await folder.run("reports:send", ...given);

    expect(code).to.equal(0);
    expect(JSON.parse(stdout)).to.deep.equal({ month: "2026-11", dryRun: true, to: ["ada", "grace"], copies: 2 });
    expect(stderr).to.equal(RAN.replace("starts\nshelf stops", "starts\nprinted\nshelf stops"));
  });

  it("gets false for a flag that is not given, and the defaults of its schema", async () => {
    const { stdout } = await folder.run("reports:send", "--month=2026-11", "--no-dry-run", "--to", "ada");

    expect(JSON.parse(stdout)).to.deep.equal({ month: "2026-11", dryRun: false, to: ["ada"], copies: 1 });
  });

  const wrong: readonly (readonly [title: string, args: readonly string[], message: string])[] = [
    ["values that the schema refuses", ["--month=11", "--copies", "10"], "--month: Invalid string"],
    ["a text that is no number", ["--month=2026-11", "--copies", "many"], "--copies: Expected a number."],
    ["a flag with another text", ["--month=2026-11", "--dry-run=maybe"], "--dry-run: Expected true or false."],
    ["an option that is missing", [], "--month: Invalid input"],
    ["an unknown option", ["--month=2026-11", "--mont", "x"], "unknown option --mont"],
    ["an option without its value", ["--month", "--dry-run"], "--month needs a value"],
    ["a word that is no option", ["2026-11"], "2026-11 is no option"],
    ["two values for one", ["--month=2026-11", "--month=2026-12"], "--month: Invalid input"],
    ["the name of an inherited member", ["--month=2026-11", "--constructor=x"], "unknown option --constructor"],
  ];
  for (const [title, args, message] of wrong) {
    it(`exits with 2 and starts nothing for ${title}`, async () => {
      const { code, stdout, stderr } = await folder.run("reports:send", ...args);

      expect(code).to.equal(2);
      expect(stdout).to.equal("");
      expect(stderr)
        .to.include(message)
        .and.include("stagecraft reports:send --help")
        .and.not.match(/starts|\n {4}at /);
    });
  }

  it("gets any option where its schema does not state its members", async () => {
    const { code, stdout } = await folder.run("reports:raw", "--dry-run", "--month", "11", "--to=a=b", "--to", "-1");

    expect(code).to.equal(0);
    expect(JSON.parse(stdout)).to.deep.equal({ dryRun: true, month: "11", to: ["a=b", "-1"] });
  });

  it("names the member that would hide an option of every command", async () => {
    const { code, stderr } = await folder.run("reports:strict");

    expect(code).to.equal(1);
    expect(stderr).to.include('the member "verbose" of the schema of reports:strict cannot be an option');
  });

  it("exits with 1 and the message where it throws, after the stop; the stack needs --verbose", async () => {
    const { code, stdout, stderr } = await folder.run("reports:fail");
    const verbose = await folder.run("reports:fail", "--verbose");

    expect([code, stdout, stderr]).to.deep.equal([1, "", `${RAN}the printer is away\n`]);
    expect(verbose.code).to.equal(1);
    expect(verbose.stderr).to.match(/the printer is away\n +at Reports\.fail /);
  });

  it("escapes control characters of the message that it throws", async () => {
    const { stderr } = await folder.run("reports:paint");

    expect(stderr).to.equal(`${RAN}red\\x1b[31m \\u202e\nand more\n`);
  });

  it("exits with 0 whatever it returns", async () => {
    expect(await folder.run("reports:count")).to.include({ code: 0 });
  });

  it("exits with 1 where a subsystem does not stop", async () => {
    const { code, stderr } = await runBin(["reports:count"], { cwd: folder.path, env: { STUCK: "1" } });

    expect(code).to.equal(1);
    expect(stderr).to.include("stuck");
  });

  it("runs in a release that has the compiled files alone", async () => {
    const manifest = JSON.stringify({ name: "shop", type: "module", stagecraft: { app: "src/app.ts" } });
    using release = new ApplicationFolder({ "package.json": manifest, "dist/app.js": APPLICATION });
    release.install("zod");

    const { code, stdout } = await release.run("reports:send", "--month=2026-11");

    expect(code).to.equal(0);
    expect(JSON.parse(stdout)).to.include({ month: "2026-11" });
  });

  it("is unknown with exit code 2 where no class has it, and where no module lists its class", async () => {
    const unknown = await folder.run("reports:nope");
    const unlisted = await folder.run("unlisted:send");

    expect(unknown.code).to.equal(2);
    expect(unknown.stderr).to.include('unknown command "reports:nope"');
    expect(unlisted.code).to.equal(2);
    expect(unlisted.stderr).to.include("list the class under providers of a module");
  });

  /** Sends the signals as soon as the method runs. */
  async function interrupt(name: string, ...signals: readonly NodeJS.Signals[]) {
    const child = spawn(process.execPath, [join(ROOT, "dist/lib/cli/main.js"), name], {
      cwd: folder.path,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const stderr = text(child.stderr);
    const how = ended(child);
    const [first] = await once(child.stdout, "data");
    const rest = text(child.stdout);
    for (const signal of signals) child.kill(signal);
    return { ...(await how), stdout: String(first) + (await rest), stderr: await stderr };
  }

  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    it(`has its signal aborted at ${signal}; its error is exit code 1, after the stop`, async () => {
      const { code, stderr } = await interrupt("reports:wait", signal);

      expect(code).to.equal(1);
      expect(stderr).to.equal(`${RAN}The operation was aborted\n`);
    });
  }

  it("may finish after a signal: the exit code is 0", async () => {
    expect(await interrupt("reports:finish", "SIGTERM")).to.deep.include({ code: 0, stdout: "waits\nfinished\n" });
  });

  it("has the time of a drain, and then the subsystems stop without it", async () => {
    const { code, stderr } = await interrupt("reports:ignore", "SIGTERM");

    expect(code).to.equal(1);
    expect(stderr).to.equal(`${RAN}it did not end within 300 ms after the signal\n`);
  });

  it("ends at once at a second signal, with 130 or 143", async () => {
    expect((await interrupt("reports:ignore", "SIGINT", "SIGTERM")).code).to.be.oneOf([130, 143]);
  });
});
