/** CommonJS loads the library too: by `require()`, and in a bundle. Neither can wait for a top-level `await`. */
import { expect } from "chai";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { Script } from "node:vm";
import { compiledFrom, filesBelow, manifest, ROOT, sourcesBelow, textOf } from "../support/sources.js";

const run = promisify(execFile);

/** Whether the code waits while it loads. A script cannot, so its syntax shows it. */
function waits(module: string): boolean {
  const script = module
    .replaceAll(/^(?:import|export \{|export \*)[^]*?;$/gm, "")
    .replaceAll(/^export (?:default )?/gm, "")
    .replaceAll("import.meta", "importMeta");
  try {
    // Compiled, and not run.
    void new Script(`"use strict";${script}`);
    return false;
  } catch (error) {
    if (error instanceof SyntaxError && error.message.startsWith("await is only valid")) return true;
    throw error;
  }
}

/** The command is a program, which no application loads. */
const files = filesBelow("dist/lib", ".js").filter(
  (path) => !compiledFrom(path).every((source) => source.startsWith("lib/cli/")),
);

describe("CommonJS", () => {
  it("can load every file of the library: none has a top-level await", () => {
    expect(files).to.have.property("length").above(100);
    expect(files.filter((path) => waits(textOf(path) ?? ""))).to.deep.equal([]);
  });

  for (const [what, code, expected] of [
    ["an import", 'import { a } from "a";\nexport const b = await import("b");', true],
    ["a call", "export const b = 1;\nawait b.c();", true],
    ["a function", 'import {\n  a,\n} from "a";\nexport async function b() {\n  await a();\n}', false],
  ] as const) {
    it(`waits for ${what} at the top level: ${String(expected)}`, () => {
      expect(waits(code)).to.equal(expected);
    });
  }

  for (const path of files.filter((each) => textOf(each)?.includes("import.meta"))) {
    it(`loads ${path} in a bundle, where import.meta is empty`, async () => {
      const file = join(ROOT, path);
      const module = (textOf(path) ?? "")
        .replaceAll("import.meta", "({})")
        .replaceAll(/(?<=(?:from|import) ")\.[^"]+/g, (from) => new URL(from, pathToFileURL(file)).href)
        .replaceAll(
          "#node-internals",
          pathToFileURL(join(ROOT, manifest().imports["#node-internals"]?.default ?? "")).href,
        )
        .replace(/\/\/# sourceMappingURL=.*/, "");
      const bundled = `const __filename = ${JSON.stringify(file)};\n${module}`;

      const exported = (await import(`data:text/javascript,${encodeURIComponent(bundled)}`)) as object;

      expect(Object.keys(exported)).to.have.property("length").above(0);
    });
  }

  it("needs no file from inside Koa, whose getters throw when a test runner reads every export", () => {
    const inside = sourcesBelow("lib").filter(({ imports }) => imports.some(({ from }) => from.startsWith("koa/")));

    expect(inside.map(({ path }) => path)).to.deep.equal([]);
  });

  it("finds no getter that throws among the exports of the library", async () => {
    for (const path of filesBelow("dist/lib/http", ".js")) {
      // The file is read from the folder: its names are unknown here.
      const exported = (await import(join(ROOT, path))) as Readonly<Record<string, unknown>>;
      const values = Object.values(exported).filter((value) => typeof value === "object" && value !== null);
      for (const value of values) expect(() => Object.entries(value), path).to.not.throw();
    }
  });

  describe("in one process", () => {
    const { name, exports } = manifest();
    const entries = Object.keys(exports).filter((each) => each !== "./package.json");
    const specifiers = entries.map((entry) => name + entry.slice(1));
    let loaded: Readonly<Record<string, number | string>>;

    before(async function () {
      this.timeout(120_000);
      const code = `const load = async (specifier) => {
          try {
            const [required, imported] = [require(specifier), await import(specifier)];
            const others = Object.keys(required).filter((name) => required[name] !== imported[name]);
            return others.length === 0 ? Object.keys(required).length : "other by import: " + others;
          } catch (error) { return String(error) }
        };
        const rows = ${JSON.stringify(specifiers)}.map(async (each) => [each, await load(each)]);
        void Promise.all(rows).then((all) => console.log(JSON.stringify(Object.fromEntries(all))));`;
      const { stdout } = await run(process.execPath, ["--no-warnings", "-e", code], { cwd: ROOT });
      // The number of exports of each entry, or its error.
      loaded = JSON.parse(stdout) as typeof loaded;
    });

    for (const specifier of specifiers) {
      it(`loads ${specifier} by require(), with the same classes as by import`, () => {
        expect(loaded[specifier]).to.be.above(0);
      });
    }
  });
});
