/** The symptoms of production on the page "troubleshooting": what it names is in the code. */
import { execFileSync } from "node:child_process";
import { expect } from "chai";
import { BIN } from "../support/application-folder.js";
import { sourcesBelow, textOf } from "../support/sources.js";

const [, section = ""] = (textOf("docs/guide/troubleshooting.md") ?? "").split("\n## In production\n");
const code = sourcesBelow("lib")
  .map((source) => source.code)
  .join("\n");
const watching = textOf("docs/guide/watching.md") ?? "";

function found(pattern: RegExp): readonly string[] {
  return [...new Set(section.match(pattern))];
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

describe("the oldest Node", () => {
  it("is that of the readme and of the decision", () => {
    const { engines } = JSON.parse(textOf("package.json") ?? "{}") as { engines: { node: string } }; // The file of this package.
    const oldest = engines.node.replace(">=", "");

    expect(textOf("README.md")).to.include(`\`engines\` stays at ${oldest}`);
    expect(textOf("docs/decisions/node-floor.md")).to.include(`Node ${oldest}`);
  });
});
