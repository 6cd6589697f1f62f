import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { newFolder } from "../../support/new-folder.js";
import { ApplicationFolder, type Files, runBin, SMALL_APPLICATION } from "../../support/application-folder.js";

interface Row {
  readonly files: Files;
  readonly args?: readonly string[];
  /** Parts of what, where and the fix. */
  readonly says: readonly string[];
}

const PACKAGE_OF_TYPESCRIPT = JSON.stringify({ type: "module", stagecraft: { app: "src/app.ts" } });

const FAULTS: Readonly<Record<string, Row>> = {
  "an application that throws while it loads": {
    files: { "app.js": 'import "./other.js";', "other.js": '\nthrow new Error("no such city");' },
    says: ["app.js throws while it loads: no such city", "at other.js:2:7", "fix: "],
  },
  "an exported function that throws": {
    files: { "app.js": 'export default function () { throw new Error("no such city"); }' },
    says: ["app.js throws while it loads: no such city", "at app.js:1:36"],
  },
  "an application without an export": {
    files: { "app.js": "const app = 1;" },
    says: ["app.js has no default export; it exports nothing", "fix: export default Application.create("],
  },
  "a named export only": {
    files: { "app.js": SMALL_APPLICATION.replace("export default", "export const app =") },
    says: ["app.js has no default export; it exports app", "only the default export counts"],
  },
  "a default export that is something else": {
    files: { "app.js": "export default { port: 3000 };" },
    says: ["the default export of app.js is no builder of an application: a value of Object", "without .build()"],
  },
  "an application that is built": {
    files: { "app.js": SMALL_APPLICATION.replace(".requestId()", ".build()") },
    says: ["the default export of app.js is built already", "leave out .build()"],
  },
  "a builder of another copy of the framework": {
    files: { "app.js": "export default new (class ApplicationBuilder {})();" },
    says: ["of another copy of the framework", "npm ls @stagecraft/framework"],
  },
  "an application that connects while it loads, and whose database is away": {
    files: {
      "app.js": `
        import { connect } from "node:net";
        export default () => new Promise((_, reject) => connect(1, "127.0.0.1").on("error", reject));
      `,
    },
    says: ["connect ECONNREFUSED 127.0.0.1:1", "fix: connect when the application starts"],
  },
  "an error of syntax": {
    files: { "app.js": 'import "./other.js";', "other.js": "const links = ;" },
    says: ["error of syntax: Unexpected token ';'", "node --check"],
  },
  "an import of a package that is not installed": {
    files: { "app.js": 'import "no-such-package";' },
    says: ["Cannot find package 'no-such-package'", "fix: install the package"],
  },
  "a file that does not exist": {
    files: {},
    args: ["--app", "src/none.js"],
    says: ["src/none.js does not exist", "at --app"],
  },
  "a file of package.json that does not exist": {
    files: {},
    says: ["app.js does not exist", 'at "stagecraft" in package.json'],
  },
  "a package.json that names no application": {
    files: { "package.json": "{}" },
    says: ["package.json does not name the module of the application", '"stagecraft": { "app": "src/app.ts" }'],
  },
  "a package.json that is not JSON": {
    files: { "package.json": "{" },
    says: ["package.json is not JSON", "fix: correct its syntax"],
  },
  "a tsconfig.json that is not JSON": {
    files: { "package.json": PACKAGE_OF_TYPESCRIPT, "src/app.ts": "", "tsconfig.json": "{" },
    says: ["tsconfig.json cannot be read", "fix: correct its syntax"],
  },
  "a source outside the folder that is compiled": {
    files: {
      "package.json": PACKAGE_OF_TYPESCRIPT,
      "src/app.ts": "",
      "tsconfig.json": '{"compilerOptions":{"rootDir":"lib"}}',
    },
    says: ["is outside rootDir", "fix: set rootDir and outDir"],
  },
  "an application with faults, all of them": {
    files: { "app.js": SMALL_APPLICATION.replace(".requestId()", ".requestId().requestId().port(70_000)") },
    says: ["the application cannot start: 2 faults", "E_STAGE_TWICE", "E_PORT"],
  },
};

describe("loading the application", () => {
  for (const [what, { files, args = [], says }] of Object.entries(FAULTS)) {
    it(`reports ${what}, without a stack`, async () => {
      using folder = new ApplicationFolder(files);

      const { code, stdout, stderr } = await folder.call("routes", ...args);

      for (const part of says) expect(stderr).to.include(part);
      expect(stderr).not.to.match(/^ {4}at .*[\w>] \(|node:internal/m);
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: "" });
    });
  }

  it("reports an application that ends the process", async () => {
    using folder = new ApplicationFolder({ "app.js": "process.exit(0);" });

    const { code, stderr } = await folder.run("routes");

    expect(code).to.equal(1);
    expect(stderr).to.include("app.js ends the process while it loads\n  fix: ");
  });

  it("shows the stack with --verbose", async () => {
    using folder = new ApplicationFolder({ "app.js": 'throw new Error("no such city");' });

    const { stderr } = await folder.run("routes", "--verbose");

    expect(stderr).to.match(/^ +at .*app\.js:1:7/m);
  });

  it("names an application that does not load within 5 seconds", async () => {
    using folder = new ApplicationFolder({ "app.js": "await new Promise(() => {});" });

    const { code, stderr } = await folder.run("routes");

    expect(code).to.equal(1);
    expect(stderr).to.include("app.js does not load within 5 s").and.include("call run() in src/main.ts");
  });

  it("reports a folder without package.json", async () => {
    using folder = new ApplicationFolder();
    using other = newFolder();
    const file = join(other.path, "app.js");
    writeFileSync(file, "");

    const { code, stderr } = await folder.run("routes", "--app", file);

    expect(code).to.equal(1);
    expect(stderr).to.include("there is no package.json");
  });

  it("takes the default export where there are others, and a builder as well as a function that returns one", async () => {
    const app = `${SMALL_APPLICATION.replace("export default", "export const other =")}export default other();`;
    using folder = new ApplicationFolder({ "app.js": app });

    expect(await folder.call("routes")).to.include({ code: 0 });
  });

  it("finds the output of a source by tsconfig.json, with comments and extends", async () => {
    using folder = new ApplicationFolder({
      "package.json": PACKAGE_OF_TYPESCRIPT,
      "src/app.ts": "// the source",
      "tsconfig.json": '{ "extends": "./base", /* where */ "compilerOptions": { "outDir": "./out", }, }',
      "base.json": '{ "compilerOptions": { "rootDir": "src", "outDir": "https://no.example" } } // replaced',
      "out/app.js": SMALL_APPLICATION,
    });

    const { code, stdout } = await folder.call("routes");

    expect(code).to.equal(0);
    expect(stdout).to.include("/links/{id}");
  });

  it("runs from a folder below that of package.json", async () => {
    using folder = new ApplicationFolder({ "app.js": SMALL_APPLICATION, "src/none": "" });

    expect(await runBin(["routes"], { cwd: `${folder.path}/src` })).to.include({ code: 0 });
  });
});
