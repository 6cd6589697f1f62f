/** The library as `spec/tools/bundle` writes it. The compiled files that `tsc` writes alone keep the same promises. */

import { expect } from "chai";
import { build } from "esbuild";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isClass } from "../../lib/runtime/class.js";
import { runProgram } from "../support/program.js";
import { filesBelow, manifest, ROOT, textOf } from "../support/sources.js";

/** The names that each file exports, types apart. */
async function listExports(files: readonly string[]): Promise<readonly (readonly string[])[]> {
  const { metafile } = await build({
    entryPoints: [...files],
    absWorkingDir: ROOT,
    outdir: "unwritten",
    metafile: true,
    write: false,
    logLevel: "silent",
  });
  const outputs = Object.values(metafile.outputs);
  return files.map((file) => outputs.find(({ entryPoint }) => entryPoint === file)?.exports.toSorted() ?? []);
}

/** The classes that are exported by another name. */
const ALIASES: Readonly<Record<string, string>> = { PageContracts: "PageContractRegistry" };

const sources = filesBelow("lib", ".ts");

describe("the built library", () => {
  it("exports from each file what its source exports", async () => {
    const compiled = sources.map((path) => join("dist", path.replace(/\.ts$/, ".js")));

    const [expected, found] = [await listExports(sources), await listExports(compiled)];

    expect(expected.flat()).to.have.property("length").above(1000);
    for (const [index, path] of sources.entries()) expect(found[index], path).to.deep.equal(expected[index]);
  });

  for (const [entry, target] of Object.entries(manifest().exports)) {
    if (typeof target === "string") continue;

    it(`has in ${entry} each class with its name`, async () => {
      // The file is one of package.json: its names are unknown here.
      const exported = (await import(join(ROOT, target.default))) as Readonly<Record<string, unknown>>;

      const classes = Object.entries(exported).filter(([, value]) => isClass(value));
      for (const [name, value] of classes) expect(value).to.have.property("name", ALIASES[name] ?? name);
    });
  }

  it("has one copy of a class for an entry point and for the path of its module", async () => {
    const entry = await import("../../lib/entries/main.js");
    const [{ FrameworkError }, { Context }] = [
      await import("../../lib/errors/framework-error.js"),
      await import("../../lib/http/request/context.js"),
    ];

    expect(entry.FrameworkError).to.equal(FrameworkError);
    expect(entry.Context).to.equal(Context);
  });

  it("has the lines of the sources in a stack", async () => {
    const program = `
      const { RateLimit } = await load("entries/main.js");
      try { RateLimit.perMinute(-1) } catch ({ stack }) { console.log(stack) }`;

    const { stdout } = await runProgram(program, { NODE_OPTIONS: "--enable-source-maps" });

    const frames = [...stdout.matchAll(/\/(lib\/[^:]+\.ts):(\d+):(\d+)/g)];
    const [[, file = "", line = "", column = ""] = []] = frames;
    const text = (textOf(file) ?? "").split("\n")[Number(line) - 1] ?? "";
    expect(text.slice(Number(column) - 1), stdout).to.match(/^new FrameworkError\(/);
    expect(stdout).to.include(pathToFileURL(join(ROOT, "lib/stages/rate-limit/")).pathname);
  });

  it("loads no client for HTTP with a server, which node:http of newer Nodes loads with its exports", async () => {
    const program = `
      import { once } from "node:events";
      import { connect, createServer } from "node:net";
      const { Application, Route, Routes } = await load("entries/main.js");
      const listener = createServer().listen(0, "127.0.0.1");
      await once(listener, "listening");
      await Application.create().routes(new Routes([Route.get("/", () => "hello")])).build().serve(listener);
      const socket = connect(listener.address().port, "127.0.0.1").setEncoding("latin1");
      socket.write("GET / HTTP/1.1\\r\\nHost: shop\\r\\n\\r\\n");
      const [response] = await once(socket, "data");
      console.log(response.split("\\r\\n").at(-1), process.moduleLoadList.filter((name) => name.includes("undici")));
      process.exit();`;

    expect(await runProgram(program)).to.include({ stdout: "hello []\n", stderr: "" });
  });
});
