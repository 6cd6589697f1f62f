/** A release: what `stagecraft build` writes, and how `stagecraft start` runs it. */
import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import * as nodeModule from "node:module";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { ApplicationFolder } from "../support/application-folder.js";
import { freePort } from "../support/free-port.js";
import { ROOT } from "../support/sources.js";
import { until } from "../support/until.js";

const FILES = {
  "package.json": JSON.stringify({ name: "shop", type: "module", stagecraft: { app: "src/app.ts" } }),
  "tsconfig.json": JSON.stringify({
    compilerOptions: {
      rootDir: "src",
      outDir: "dist",
      module: "nodenext",
      target: "es2022",
      strict: true,
      skipLibCheck: true,
      declaration: true,
      sourceMap: true,
      types: ["node"],
      verbatimModuleSyntax: true,
      experimentalDecorators: true,
    },
    include: ["src"],
  }),
  "src/app.ts": `import { Application, profile, Route, Routes } from "@stagecraft/framework";
export default Application.create().routes(new Routes([Route.get("/", () => profile)]));
`,
  "src/main.ts": `import application from "./app.js";
console.log("printed by the application");
await application.lifecycle({ drainDelayMs: 0 }).build().run();
`,
};

describe("a release with a front end", function () {
  this.timeout(120_000);
  this.slow(20_000);
  const settings = {
    app: "src/app.ts",
    frontEnd: { serverEntry: "pages/server.js" },
  };
  let folder: ApplicationFolder;

  before(() => {
    folder = new ApplicationFolder({
      ...FILES,
      "package.json": JSON.stringify({ name: "shop", type: "module", stagecraft: settings }),
      "vite.config.js": `export default {
        base: "/build/",
        publicDir: false,
        logLevel: "error",
        build: { outDir: "public/build", manifest: true, rolldownOptions: { input: "pages/main.js" } },
      };`,
      "pages/main.js": 'import { greet } from "./greet.js"; document.title = greet("browser");',
      "pages/server.js":
        'import { greet } from "./greet.js"; export const render = () => ({ head: [], body: greet("server") });',
      "pages/greet.js": "export const greet = (name) => `hello ${name}`;",
      "src/pages/store.ts": "export const store = 1;\n",
    });
    folder.install("typescript", "@types/node", "@types/koa", "vite");
  });
  after(() => folder[Symbol.dispose]());

  it("has the files for browsers, the bundle for the server, and the compiled sources beside it", async () => {
    const { code, stderr } = await folder.run("build");

    expect([code, stderr]).to.deep.equal([0, ""]);
    const manifest: unknown = JSON.parse(folder.read("public/build/.vite/manifest.json"));
    expect(manifest).to.have.property("pages/main.js");
    expect(readdirSync(join(folder.path, "dist/pages")).toSorted()).to.deep.equal([
      "server.js",
      "store.js",
      "store.js.map",
    ]);
    const { render } = (await import(pathToFileURL(join(folder.path, "dist/pages/server.js")).href)) as {
      render: () => unknown;
    };
    expect(render()).to.deep.equal({ head: [], body: "hello server" });
  });

  it("stays as it was where the front end has an error", async () => {
    folder.write("pages/main.js", 'import "./none.js";');
    folder.write("src/pages/other.ts", "export const other = 1;\n");

    const { code, stderr } = await folder.run("build");

    expect(code).to.equal(1);
    expect(stderr).to.contain("./none.js").and.to.contain("the build failed: vite ended with code 1");
    expect(readdirSync(join(folder.path, "dist/pages")))
      .to.include("server.js")
      .and.to.not.include("other.js");
    expect(existsSync(join(folder.path, "dist.next"))).to.equal(false);
    expect(folder.read("public/build/.vite/manifest.json")).to.contain("pages/main.js");
  });

  it("names a setting that is no path", async () => {
    folder.write(
      "package.json",
      JSON.stringify({ type: "module", stagecraft: { ...settings, frontEnd: { serverEntry: 1 } } }),
    );

    const { code, stderr } = await folder.run("build");

    expect(code).to.equal(1);
    expect(stderr).to.contain("frontEnd.serverEntry is no path");
  });
});

describe("a release", function () {
  this.timeout(120_000);
  this.slow(20_000);
  let folder: ApplicationFolder;

  before(() => {
    folder = new ApplicationFolder(FILES);
    folder.install("typescript", "@types/node", "@types/koa");
  });
  after(() => folder[Symbol.dispose]());

  it("is not built without a build", async () => {
    const { code, stderr } = await folder.run("start");

    expect([code, stderr]).to.deep.equal([1, "dist/main.js does not exist\n  fix: run stagecraft build\n"]);
  });

  it("is the program that package.json names", async () => {
    folder.write("package.json", FILES["package.json"].replace('"app":', '"main":"src/run.ts","app":'));

    const { code, stderr } = await folder.run("start");

    folder.write("package.json", FILES["package.json"]);
    expect([code, stderr]).to.deep.equal([1, "dist/run.js does not exist\n  fix: run stagecraft build\n"]);
  });

  it("has the compiled sources, and nothing of an older build", async () => {
    folder.write("dist/old.js", "");

    const { code, stderr } = await folder.run("build");

    expect([code, stderr]).to.deep.equal([0, ""]);
    expect(readdirSync(join(folder.path, "dist")).toSorted()).to.deep.equal([
      "app.js",
      "app.js.map",
      "main.js",
      "main.js.map",
    ]);
  });

  it("has no specs, unless a source imports one of their files", async () => {
    folder.write("src/users/user.spec.ts", "export const spec = 1;\n");
    folder.write("src/users/user.test.ts", "export const test = 1;\n");
    folder.write("src/spec/helper.ts", "export const helper = 1;\n");
    folder.write("src/spec/document.ts", "export const document = 1;\n");
    folder.write("src/users/user.ts", 'export { document } from "../spec/document.js";\n');

    const { code, stderr } = await folder.run("build");

    expect([code, stderr]).to.deep.equal([0, ""]);
    const files = readdirSync(join(folder.path, "dist"), { recursive: true }).map(String);
    expect(files.filter((name) => name.endsWith(".js")).toSorted()).to.deep.equal([
      "app.js",
      "main.js",
      "spec/document.js",
      "users/user.js",
    ]);
    expect(readdirSync(folder.path).filter((name) => name.includes("release"))).to.deep.equal([]);
  });

  it("stays as it was where the types have an error", async () => {
    folder.write("src/wrong.ts", 'export const wrong: number = "text";\n');

    const { code, stderr } = await folder.run("build");

    expect(code).to.equal(1);
    expect(stderr).to.contain("src/wrong.ts(1,14): error TS2322").and.to.contain("the build failed: typescript");
    expect(existsSync(join(folder.path, "dist/wrong.js")) || existsSync(join(folder.path, "dist.next"))).to.equal(
      false,
    );
    expect(existsSync(join(folder.path, "dist/main.js"))).to.equal(true);
  });

  it("runs as a release with the variables of .env, with the output of the application, and drains at a signal", async () => {
    const port = await freePort();
    folder.write(".env", `PORT=${port}\n`);
    const { NODE_ENV: _, PORT: __, NODE_COMPILE_CACHE: ___, ...inherited } = process.env;
    const env = { ...inherited, TMPDIR: folder.path };
    const child = spawn(process.execPath, [join(ROOT, "dist/lib/cli/main.js"), "start"], {
      cwd: folder.path,
      env,
    });
    const output = text(child.stdout);
    const ended = new Promise((resolve) => child.once("close", (code) => resolve(code)));
    const ask = () =>
      fetch(`http://127.0.0.1:${port}`).then(
        (response) => response.text(),
        () => "",
      );
    await until(async () => (await ask()) === "release");

    child.kill("SIGTERM");

    expect(await ended).to.equal(0);
    expect(await output).to.equal("printed by the application\n");
    // The next start compiles less. Node 20 has no such cache.
    expect(existsSync(join(folder.path, "node-compile-cache"))).to.equal("enableCompileCache" in nodeModule);
  });
});
