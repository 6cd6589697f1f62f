import { spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { expect } from "chai";
import { COMMANDS } from "../../lib/cli/program.js";
import { ApplicationFolder, BIN, runBin, SMALL_APPLICATION } from "../support/application-folder.js";
import { ROOT } from "../support/sources.js";

const inRepository = { cwd: ROOT };

describe("the command", () => {
  it("prints its help with every command to standard output, and exits with 0", async () => {
    const { code, stdout, stderr } = await runBin(["--help"], inRepository);

    expect(code).to.equal(0);
    expect(stderr).to.equal("");
    for (const { name, summary } of COMMANDS) {
      const [group, member] = name.split(" ");
      // The line of a group names its commands.
      expect(stdout)
        .to.include(group)
        .and.include(member ?? summary.split(" ", 2).join(" "));
    }
  });

  it("prints the help of a command", async () => {
    const { code, stdout } = await runBin(["routes", "--help"], inRepository);

    expect(code).to.equal(0);
    expect(stdout).to.include("--json").and.include("--app <FILE>");
  });

  it("prints the version of the framework", async () => {
    const { code, stdout } = await runBin(["version", "--json"], inRepository);

    expect(code).to.equal(0);
    expect(JSON.parse(stdout)).to.deep.equal({ framework: "0.1.0", node: process.versions.node });
  });

  const wrong: readonly (readonly [string, readonly string[], string])[] = [
    ["no command", [], "Usage: stagecraft"],
    ["an unknown command, and suggests the nearest", ["rotues"], "Did you mean routes?"],
    ["an unknown option", ["routes", "--nope"], "unknown option '--nope'"],
    ["an argument too many", ["routes", "links"], "too many arguments"],
    ["an option without its value", ["routes", "--app"], "argument missing"],
  ];
  for (const [what, args, message] of wrong) {
    it(`exits with 2 and writes to standard error for ${what}`, async () => {
      const { code, stdout, stderr } = await runBin(args, inRepository);

      expect(code).to.equal(2);
      expect(stdout).to.equal("");
      expect(stderr).to.include(message);
    });
  }

  it("keeps the output of the application out of its result", async () => {
    using folder = new ApplicationFolder({ "app.js": `console.log("from the application");${SMALL_APPLICATION}` });

    const { code, stdout, stderr } = await folder.run("routes", "--json");

    expect(code).to.equal(0);
    expect(JSON.parse(stdout)).to.have.length(2);
    expect(stderr).to.equal("from the application\n");
  });

  it("ends although the application keeps a timer", async () => {
    using folder = new ApplicationFolder({ "app.js": `setInterval(() => {}, 1000);${SMALL_APPLICATION}` });

    expect(await folder.run("routes")).to.include({ code: 0, signal: null });
  });

  it("writes a long result whole before it ends", async () => {
    const routes = `Array.from({ length: 5000 }, (_, at) => Route.get("/a-long-path-" + at, () => 1))`;
    using folder = new ApplicationFolder({
      "app.js": `
        import { Application, Route, Routes } from "@stagecraft/framework";
        export default Application.create().routes(new Routes(${routes}));
      `,
    });

    const { stdout } = await folder.run("routes", "--json");

    expect(JSON.parse(stdout)).to.have.length(5000);
  });

  it("says that the result cannot be written, as on a full disk", () => {
    const disk = openSync("/dev/full", "w");
    const { status, stderr } = spawnSync(process.execPath, [BIN, "version"], { stdio: ["ignore", disk, "pipe"] });
    closeSync(disk);

    expect(status).to.equal(1);
    expect(String(stderr)).to.match(/^the result cannot be written: .*ENOSPC.*\n$/);
  });
});
