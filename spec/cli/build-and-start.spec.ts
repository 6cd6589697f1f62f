/** A release: what `stagecraft build` writes, and how `stagecraft start` runs it. */
import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
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
    const { NODE_ENV: _, PORT: __, ...env } = process.env;
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
  });
});
