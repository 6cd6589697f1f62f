/**
 * `npm run test:fast` runs the specs that need no server, process or browser. `npm run test:watch` runs them again after each change that
 * compiles; with arguments, `npm run test:watch -- spec/endpoints/path.spec.ts`, it runs these files.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { SourceCompiler } from "../../../lib/cli/application/compiler.js";
import { SourceProject } from "../../../lib/cli/application/source-project.js";
import { formatFault } from "../../../lib/cli/application/transform.js";
import { SourceWatch } from "../../../lib/cli/dev/source-watch.js";
import { ROOT } from "../../support/sources.js";
import { fastSpecs } from "./fast-specs.js";

const { values, positionals } = parseArgs({ options: { watch: { type: "boolean" } }, allowPositionals: true });

/** The compiled file of a source; a compiled file stays. */
function compiledFile(path: string): string {
  return path.startsWith("dist/") ? path : `dist/${path.replace(/\.ts$/, ".js")}`;
}

/** The options of the whole suite without its files, which mocha would add. */
function options(): readonly string[] {
  // The form of the file is mocha's.
  const { spec: _, ...others } = JSON.parse(readFileSync(join(ROOT, ".mocharc.json"), "utf8")) as Record<
    string,
    unknown
  >;
  return Object.entries(others).flatMap(([name, value]) =>
    value === true ? [`--${name}`] : [`--${name}`, String(value)],
  );
}

const flags = ["--no-config", "--reporter", "dot", ...options()];

function startMocha(): ChildProcess {
  const files = positionals.length > 0 ? positionals.map(compiledFile) : fastSpecs();
  const mocha = join(ROOT, "node_modules/mocha/bin/mocha.js");
  return spawn(process.execPath, [mocha, ...flags, ...files], { cwd: ROOT, stdio: "inherit" });
}

function once(): void {
  startMocha().once("exit", (code) => (process.exitCode = code ?? 1));
}

/** A change that compiles ends the run of the older code. */
function watched(): void {
  const project = SourceProject.of(join(ROOT, "lib/entries/main.ts"));
  const compiler = new SourceCompiler();
  let mocha = startMocha();
  const onChange = (): void => {
    const { changed, faults } = compiler.update(project);
    if (faults.length > 0) console.error(faults.map(formatFault).join("\n"));
    if (changed.length === 0) return;
    mocha.kill("SIGINT");
    mocha = startMocha();
  };
  const watch = new SourceWatch({
    isWatched: (folder) => project.isWatched(folder),
    counts: (file) => project.hasInput(file),
    onChange,
    onLimit: (folder) => console.error(`changes below ${folder} are not seen`),
  });
  watch.add(project.folders);
  process.once("exit", () => watch.stop());
}

if (values.watch === true) watched();
else once();
