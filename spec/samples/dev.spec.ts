/** The development loop: a program that is compiled after each change and restarted without losing a request. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { Compiler, type Compilation } from "../../samples/dev/compiler.js";
import { OnePort } from "../../samples/dev/one-port.js";
import { RestartedProgram } from "../../samples/dev/restarted-program.js";
import { freePort } from "../support/free-port.js";
import { ROOT } from "../support/sources.js";
import { until } from "../support/until.js";

const SETTINGS = {
  compilerOptions: {
    outDir: "out",
    rootDir: "src",
    module: "nodenext",
    types: ["node"],
    typeRoots: [join(ROOT, "node_modules/@types")],
    noEmitOnError: true,
    // Most of the time of a compilation.
    skipLibCheck: true,
    lib: ["es2023"],
  },
  include: ["src"],
};

/** A server that responds with its version, on `/slow` when the release request has come, and that drains at SIGTERM. */
function server(version: string, port: number): string {
  return `
import { createServer, type ServerResponse } from "node:http";
const version: number = ${version};
const held: ServerResponse[] = [];
const server = createServer((request, response) => {
  response.setHeader("Connection", "close");
  if (request.url === "/slow") { held.push(response); return; }
  response.end(String(version));
}).listen(${port}, "127.0.0.1");
process.once("SIGTERM", () => {
  server.close();
  setTimeout(() => { for (const response of held) response.end("finished by " + version); }, 50);
});
`;
}

describe("the development loop", function () {
  this.timeout(180_000);
  this.slow(10_000);
  let folder: string;
  let port: number;
  let program: RestartedProgram;
  let compiler: Compiler;
  const compilations: Compilation[] = [];

  /** Replaces the file, as most editors do. */
  function write(version: string): void {
    writeFileSync(join(folder, "next.ts"), server(version, port));
    renameSync(join(folder, "next.ts"), join(folder, "src/main.ts"));
  }

  const ask = (path = "/") =>
    fetch(`http://127.0.0.1:${port}${path}`).then(
      (response) => response.text(),
      () => "refused",
    );

  /** Writes the version, and resolves when it was compiled. */
  async function change(version: string): Promise<Compilation> {
    const before = compilations.length;
    write(version);
    await until(() => compilations.length > before);
    return compilations.at(-1) ?? { ok: false, output: "" };
  }

  before(async () => {
    port = await freePort();
    folder = mkdtempSync(join(tmpdir(), "development-"));
    mkdirSync(join(folder, "src"));
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(SETTINGS));
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    program = new RestartedProgram(join(folder, "out/main.js"));
    compiler = new Compiler(join(folder, "tsconfig.json"), [join(folder, "src")], (compilation) => {
      compilations.push(compilation);
      if (compilation.ok) program.restart();
    });
    compiler.start();
    await change("1");
    await until(async () => (await ask()) === "1");
  });

  after(async () => {
    compiler.stop();
    await program.stop();
    rmSync(folder, { recursive: true });
  });

  it("keeps the running process where the sources do not compile, and has the error", async () => {
    const { ok, output } = await change('"two"');

    expect(ok).to.equal(false);
    expect(output).to.match(/main\.ts\(3,7\): error TS2322: Type 'string' is not assignable to type 'number'/);
    expect(await ask()).to.equal("1");
  });

  it("starts the new code when the old process has finished its requests", async () => {
    const slow = ask("/slow");
    await until(async () => (await ask()) === "1");

    expect(await change("2")).to.deep.equal({ ok: true, output: "" });
    expect(await slow).to.equal("finished by 1");
    await until(async () => (await ask()) === "2");
  });

  it("starts one process after several changes in a row", async () => {
    for (let version = 3; version < 6; version++) write(String(version));

    await until(async () => (await ask()) === "5");
    expect(compilations.at(-1)?.ok).to.equal(true);
  });

  it("has requests wait at the one port while the process restarts", async () => {
    const onePort = new OnePort({ application: port, vite: undefined });
    const url = `http://127.0.0.1:${await onePort.listen(0)}/`;
    const through = async () => (await fetch(url)).text();
    try {
      expect(await through()).to.equal("5");
      program.restart();
      const responses = await Promise.all(Array.from({ length: 20 }, through));

      expect(new Set(responses)).to.deep.equal(new Set(["5"]));
    } finally {
      onePort.close();
    }
  });

  it("drains the process when it stops", async () => {
    await until(async () => (await ask()) === "5");
    const slow = ask("/slow");
    await until(async () => (await ask()) === "5");

    await program.stop();

    expect(await slow).to.equal("finished by 5");
    expect(await ask()).to.equal("refused");
  });
});
