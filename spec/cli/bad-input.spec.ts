/** Wrong input to every command: an exit code, a message with the fault and its fix, no stack, in bounded time. */
import { expect } from "chai";
import { spawn, spawnSync } from "node:child_process";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { COMMANDS } from "../../lib/cli/program.js";
import { ApplicationFolder, SMALL_APPLICATION } from "../support/application-folder.js";
import { ended } from "../support/program.js";
import { ROOT } from "../support/sources.js";
import { withoutPrivileges } from "../support/without-privileges.js";

const BIN = join(ROOT, "dist/lib/cli/main.js");

/** Commands that load an application, with the arguments that they need. */
const LOADING = [
  ["routes"],
  ["pipeline"],
  ["graph"],
  ["openapi"],
  ["explain", "GET", "/"],
  ["config"],
  ["doctor"],
  ["migrate"],
  ["migrate:status"],
  ["migrate:undo", "--force"],
  ["migrate:show", "a"],
  ["migrate:accept", "a", "--reason", "a comment"],
] as const;

/** Modules that do not load: what the message names, and its fix. */
const MODULES: readonly (readonly [what: string, code: string, fault: RegExp, fix: RegExp])[] = [
  ["throws", "throw new Error('the key is missing');", /throws while it loads: the key is missing/, /correct/],
  ["has no export", "export {};", /has no default export; it exports nothing/, /export default/],
  ["has two exports, and none is the default", "export const a = 1, b = 2;", /exports a, b/, /only the default export/],
  [
    "exports another value",
    "export default 7;",
    /is no builder of an application: a value of Number/,
    /without \.build\(\)/,
  ],
  ["has an error of syntax", "export default (;", /error of syntax/, /node --check/],
  ["imports what is not there", 'import "./gone.js";', /gone\.js/, /correct the path/],
];

/** What the command line names wrongly. */
const WRONG: readonly (readonly [args: readonly string[], code: number, fault: RegExp, fix: RegExp])[] = [
  [["rotues"], 2, /unknown command 'rotues'/, /Did you mean routes\?/],
  [["routes", "--app", "app.js", "--app", "b.js"], 2, /'--app <FILE>' argument 'b\.js' is invalid/, /given twice/],
  [["graph", "--diff", "a", "--diff", "b"], 2, /'--diff <FILE>' argument 'b' is invalid/, /given twice/],
  [["graph", "--diff"], 2, /'--diff <FILE>' argument missing/, /./],
  [["routes", "--app", "."], 1, /^\. is no file\n/, /name the module/],
  [["routes", "--app", ""], 1, /^the empty name is no file\n/, /name the module/],
  [["routes", "--app", "gone.js"], 1, /^gone\.js does not exist\n/, /name the module/],
  [
    ["routes", "--app", "package.json"],
    1,
    /^package\.json is no file of JavaScript or TypeScript\n/,
    /name the module/,
  ],
  [["routes", "--app", "/outside.js"], 1, /^\/outside\.js does not exist\n/, /name the module/],
  [["pipeline", "--check", "gone.txt"], 1, /^gone\.txt cannot be read: ENOENT/, /write it first/],
  [["pipeline", "--check", "app.js"], 1, /^app\.js has no stage\n/, /stagecraft pipeline > app\.js/],
  [["pipeline", "--check", "null.json"], 1, /^null\.json has no stage\n/, /stagecraft pipeline/],
  [["pipeline", "--check", "cut.json"], 1, /^cut\.json is not a JSON document\n/, /write it/],
  [["graph", "--diff", "null.json"], 1, /is no graph/, /stagecraft graph --json/],
  [["graph", "--diff", "app.js"], 1, /^app\.js is not a JSON document\n/, /write it/],
  [["openapi", "--check", "null.json"], 1, /^null\.json is no OpenAPI document\n/, /stagecraft openapi > null\.json/],
  [["make:job", "../x"], 2, /"\.\.\/x" is not a name/, /words in lower case/],
  [["new", "../x"], 2, /"\.\.\/x" cannot be the name/, /lower-case letters/],
  [["new"], 2, /the name of the project is missing/, /stagecraft new my-shop/],
  [["build"], 1, /there is no tsconfig\.json/, /write one/],
  [["dev", "--port", "x"], 2, /^x is no port\n {2}at --port\n/, /from 0 to 65535/],
  [["dev", "--main", "gone.ts"], 1, /^gone\.ts does not exist\n {2}at --main\n/, /src\/main\.ts/],
  [["dev", "--main", "."], 1, /^\. is no file\n {2}at --main\n/, /src\/main\.ts/],
  [["dev", "--main", "app.js"], 1, /^app\.js is no source of TypeScript\n {2}at --main\n/, /src\/main\.ts/],
  [["dev", "--main", "lone.ts"], 1, /^no folder above lone\.ts has a tsconfig\.json\n {2}at --main\n/, /write a/],
  [["dev"], 1, /^main\.ts does not exist\n {2}at package\.json\n/, /src\/main\.ts/],
  [["start"], 1, /main\.js does not exist/, /stagecraft build/],
];

const FILES = { "app.js": SMALL_APPLICATION, "null.json": "[null]", "cut.json": "[", "lone.ts": "" };

function expectFault(stderr: string, fault: RegExp, fix: RegExp): void {
  expect(stderr).to.match(fault).and.match(fix);
  expect(stderr, "a stack").to.not.match(/^ {4}at /m);
}

/** Options that only a child process can have. */
async function runShell(folder: ApplicationFolder, script: string, env: NodeJS.ProcessEnv = {}) {
  const child = spawn("bash", ["-c", script, "bash", process.execPath, BIN], {
    cwd: folder.path,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, { code }] = await Promise.all([text(child.stdout), text(child.stderr), ended(child)]);
  return { stdout, stderr, code };
}

describe("the command refuses", function () {
  this.timeout(120_000);

  for (const [what, code, fault, fix] of MODULES) {
    it(`an application that ${what}, in every command that loads it`, async () => {
      for (const args of LOADING) {
        using folder = new ApplicationFolder({ "app.js": code });
        const ran = await folder.call(...args);

        expect(ran.code, args[0]).to.equal(1);
        // The findings of doctor are its result.
        expectFault(args[0] === "doctor" ? ran.stdout : ran.stderr, fault, fix);
      }
    });
  }

  for (const [args, code, fault, fix] of WRONG) {
    it(["stagecraft", ...args].join(" "), async () => {
      using folder = new ApplicationFolder(FILES);

      const ran = await folder.call(...args);

      expect(ran.code).to.equal(code);
      expectFault(ran.stderr, fault, fix);
    });
  }

  it("an application that hangs, after 5 seconds", async () => {
    using folder = new ApplicationFolder({ "app.js": "await new Promise(() => setInterval(() => {}, 1000));" });

    const { code, stderr } = await folder.run("routes");

    expect(code).to.equal(1);
    expectFault(stderr, /app\.js does not load within 5 s/, /start nothing while it loads/);
  });

  it("a folder that cannot be written, in every command that writes files", async () => {
    using folder = new ApplicationFolder(FILES);
    chmodSync(folder.path, 0o755);
    const writing = COMMANDS.filter(({ name }) => /^make:|^migrate:make$|^new$/.test(name));
    expect(writing).to.have.length.above(10);

    for (const { name } of writing) {
      const { code, stderr } = await withoutPrivileges(() => folder.call(name, "sale"));
      expect(code, name).to.equal(1);
      expectFault(stderr, /cannot be written \(EACCES\)/, /check the permissions/);
    }
  });

  it("a file that has the name of a folder", async () => {
    using folder = new ApplicationFolder({ ...FILES, src: "a file" });

    const { code, stderr } = await folder.call("make:job", "sale");

    expect(code).to.equal(1);
    expectFault(stderr, /cannot be written \(ENOTDIR\)/, /no file has the name of a folder/);
  });
});

describe("the command works", function () {
  this.timeout(120_000);

  it("with an application whose path has blanks and other letters", async () => {
    using folder = new ApplicationFolder({ "die App ü/än app.js": SMALL_APPLICATION });

    expect(await folder.call("routes", "--app", "die App ü/än app.js")).to.include({ code: 0, stderr: "" });
  });

  it("without standard input, output or error output, and with a reader that leaves", async () => {
    using folder = new ApplicationFolder(FILES);

    for (const redirection of ["<&-", ">&-", "2>&-", "| head -0"]) {
      const { code, stderr } = await runShell(folder, `set -o pipefail; "$1" "$2" routes --json ${redirection}`);
      expect({ code, stderr }, redirection).to.deep.equal({ code: 0, stderr: "" });
    }
  });

  it("without a color on any terminal", async () => {
    using folder = new ApplicationFolder(FILES);

    for (const env of [{ CI: "1" }, { TERM: "dumb" }, { NO_COLOR: "1" }, { FORCE_COLOR: "1" }]) {
      const { code, stdout, stderr } = await runShell(folder, `"$1" "$2" routes && "$1" "$2" --help`, env);
      expect(code).to.equal(0);
      expect(stdout + stderr)
        .to.include("/links/{id}")
        .and.not.include("\u001b");
    }
  });

  it("without a network", async function () {
    if (spawnSync("unshare", ["-n", "true"]).status !== 0) this.skip();
    using folder = new ApplicationFolder(FILES);

    for (const command of [
      "routes",
      "pipeline",
      "graph",
      "openapi",
      "config",
      "doctor",
      "version",
      "key:generate",
      "make:job sale",
    ]) {
      const { code, stderr } = await runShell(folder, `exec unshare -n "$1" "$2" ${command}`);
      expect({ code, stderr }, command).to.deep.equal({ code: 0, stderr: "" });
    }
  });
});
