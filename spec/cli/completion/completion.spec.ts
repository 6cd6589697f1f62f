/** The completion of the command in a shell, with the help that shows the same list: both load no application. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { ApplicationFolder } from "../../support/application-folder.js";
import { ROOT } from "../../support/sources.js";

const APPLICATION = `
  import { Application, Command } from "@stagecraft/framework";
  import { z } from "zod";
  class Reports { send() {} }
  const Values = z.object({ level: z.enum(["low", "high"]), dryRun: z.boolean() }).describe("send the reports");
  Command("reports:send", Values)(Reports.prototype, "send", Object.getOwnPropertyDescriptor(Reports.prototype, "send"));
  export default Application.create().provide(Reports);
`;
const LIST = "node_modules/.cache/stagecraft/commands.json";
const BROKEN = 'throw new Error("the application is loaded");';

describe("the list of the commands of an application", () => {
  it("is written by a command that loads the application, and read by the help alone", async () => {
    using folder = new ApplicationFolder({ "app.js": APPLICATION });
    folder.install("zod");
    await folder.run("routes");
    folder.write("app.js", BROKEN);

    const help = await folder.call("--help");
    const one = await folder.call("reports:send", "--help");

    expect(help.stdout).to.match(/Commands of the application:\n +reports:send \[options\] +send the reports/);
    expect(one.code).to.equal(0);
    expect(one.stdout).to.match(/--level <low\|high>[^]*--dry-run\n/);
  });

  it("is no obstacle where it is absent, is something else or names what no option is", async () => {
    using folder = new ApplicationFolder({ "app.js": APPLICATION });
    folder.install("zod");
    const fresh = await folder.run("reports:send", "--help");
    const flag = { kind: "flag", placeholder: "", summary: "" };
    const lists = [
      "[",
      "7",
      '[null, {"name":"a:b"}, {"name":"$(x):y","summary":"","parameters":{}}]',
      JSON.stringify([{ name: "a:b", summary: "", parameters: { "x <y>": flag } }]),
      JSON.stringify([{ name: "a:b", summary: "", parameters: { k: flag, K: flag } }]),
      JSON.stringify([{ name: "a:b", summary: "", parameters: { help: flag } }]),
      JSON.stringify([{ name: "a:b", summary: "\u001b[2J", parameters: {} }]),
      JSON.stringify([{ name: "a:b", summary: "", parameters: { k: { ...flag, placeholder: "a|$(id)" } } }]),
      JSON.stringify([{ name: "db:fresh", summary: "", parameters: {} }]),
      JSON.stringify([{ name: "a:b", summary: "", parameters: {} }]).padEnd(1_000_001),
    ];

    expect(fresh.stdout).to.include("--level <low|high>");
    for (const list of lists) {
      writeFileSync(join(folder.path, LIST), list);
      expect((await folder.call("--help")).stdout).to.not.include("Commands of the application");
    }
  });

  it("is no obstacle where it is no file, or has a command twice", async () => {
    using folder = new ApplicationFolder({ "app.js": APPLICATION });
    folder.install("zod");
    await folder.run("routes");
    const twice = { name: "a:b", summary: "of the list", parameters: {} };
    writeFileSync(join(folder.path, LIST), JSON.stringify([twice, twice]));
    const once = await folder.call("--help");
    rmSync(join(folder.path, LIST));
    execFileSync("mkfifo", [join(folder.path, LIST)]);
    const pipe = await folder.call("--help");

    expect(once.stdout).to.match(/a:b +of the list\n$/);
    expect(pipe.code).to.equal(0);
  });

  it("leaves out members that cannot be options, so that every other command runs", async () => {
    const members = "K: z.string().optional(), k: z.string().optional(), help: z.boolean(), level:";
    using folder = new ApplicationFolder({ "app.js": APPLICATION.replace("level:", members) });
    folder.install("zod");
    const first = await folder.run("reports:send", "--help");
    await folder.run("routes");
    const next = await folder.run("routes");
    const called = await folder.run("reports:send", "--k=1");

    expect(first.code).to.equal(0);
    expect(next.code).to.equal(0);
    expect(called.code).to.equal(1);
    expect(called.stderr).to.include('the member "k" of the schema of reports:send cannot be an option');
  });

  it("goes with the last command of the application", async () => {
    using folder = new ApplicationFolder({ "app.js": APPLICATION });
    folder.install("zod");
    await folder.run("routes");
    const before = readFileSync(join(folder.path, LIST), "utf8");
    folder.write("app.js", 'import { Application } from "@stagecraft/framework"; export default Application.create();');
    await folder.run("routes");

    expect(before).to.include("reports:send");
    expect(() => readFileSync(join(folder.path, LIST))).to.throw("ENOENT");
  });

  it("does not have an unknown command, whose help is exit code 2", async () => {
    using folder = new ApplicationFolder();

    const { code, stderr } = await folder.run("reports:none", "--help");

    expect(code).to.equal(2);
    expect(stderr).to.include('unknown command "reports:none"');
  });
});

describe("the completion", () => {
  let folder: ApplicationFolder;

  before(async () => {
    folder = new ApplicationFolder({ "app.js": APPLICATION });
    folder.install("zod");
    await folder.run("routes");
    folder.write("app.js", BROKEN);
    mkdirSync(join(folder.path, "node_modules/.bin"));
    writeFileSync(
      join(folder.path, "stagecraft"),
      `#!/bin/sh\nexec ${process.execPath} ${ROOT}dist/lib/cli/main.js "$@"\n`,
      {
        mode: 0o755,
      },
    );
    symlinkSync("../../stagecraft", join(folder.path, "node_modules/.bin/stagecraft"));
  });
  after(() => folder[Symbol.dispose]());

  const lines: readonly (readonly [line: string, words: readonly string[]])[] = [
    ["stagecraft rou", ["routes"]],
    ["stagecraft reports:s", ["reports:send"]],
    ["stagecraft migrate:s", ["migrate:status", "migrate:show"]],
    ["stagecraft reports:send --d", ["--dry-run"]],
    ["stagecraft reports:send --level ", ["low", "high"]],
    ["stagecraft reports:send --level=h", ["--level=high"]],
    ["stagecraft --app x.js routes --j", []],
    ["stagecraft routes --j", ["--json"]],
    ["stagecraft completion b", ["bash"]],
    ["stagecraft routes $(nothing", []],
  ];
  for (const [line, words] of lines) {
    it(`gives ${words.join(" and ") || "nothing"} for "${line}"`, async () => {
      const { code, stdout } = await folder.call("completion", "bash", `--line=${line}`);

      expect(code).to.equal(0);
      expect(stdout.split("\n").slice(0, -1)).to.deep.equal(words);
    });
  }

  /** As bash does it: the script replaces the part of the last word after a colon or an equals sign. */
  function completeInBash(line: string): readonly string[] {
    const program = `
      source <(./stagecraft completion bash)
      complete -p stagecraft >/dev/null || exit 1
      COMP_LINE=$1 COMP_POINT=\${#1}
      _stagecraft
      printf '%s\\n' "\${COMPREPLY[@]}"
    `;
    const args = ["-u", "-c", program, "bash", line];
    return execFileSync("bash", args, { cwd: folder.path, encoding: "utf8" }).split("\n").slice(0, -1);
  }

  it("completes in bash, also behind a colon and an equals sign", () => {
    expect(completeInBash("stagecraft rou")).to.deep.equal(["routes"]);
    expect(completeInBash("stagecraft reports:s")).to.deep.equal(["send"]);
    expect(completeInBash("stagecraft reports:send --level=h")).to.deep.equal(["high"]);
  });

  it("refuses another shell with exit code 2", async () => {
    const { code, stderr } = await folder.call("completion", "constructor");

    expect(code).to.equal(2);
    expect(stderr).to.include("completion bash, or zsh, or fish");
  });
});
