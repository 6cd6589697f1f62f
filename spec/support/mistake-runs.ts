/** Runs the programs of `spec/journeys/mistakes`: one compilation for all of them, then each in its own process. */
import { execFile, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { once } from "node:events";
import { promisify } from "node:util";
import type { Mistake } from "../journeys/mistakes/mistake.js";
import { bundle } from "./bundle.js";
import { freePort } from "./free-port.js";
import { recommendedSettings } from "./guide-programs.js";
import { manifest, ROOT } from "./sources.js";

const TSC = join(ROOT, "node_modules/typescript/bin/tsc");

const PACKAGES = ["zod", "kysely", "croner", "@types/node"];

export interface MistakeRun {
  /** Standard output and standard error. */
  readonly output: string;
  readonly code: number | null;
}

export class MistakeRuns implements Disposable {
  private constructor(private readonly folder: string) {}

  static async prepare(mistakes: readonly Mistake[]): Promise<MistakeRuns> {
    const runs = new MistakeRuns(realpathSync(mkdtempSync(join(tmpdir(), "mistakes-"))));
    runs.link(ROOT, manifest().name);
    for (const name of PACKAGES) runs.link(join(ROOT, "node_modules", name), name);
    runs.write("package.json", `{ "type": "module" }`);
    for (const mistake of mistakes)
      for (const [path, text] of Object.entries(mistake.files)) runs.write(`src/${slug(mistake)}/${path}`, text);
    await runs.compile(mistakes);
    for (const mistake of mistakes.filter(({ isApart }) => isApart)) runs.copyTo(`out/${slug(mistake)}/node_modules`);
    return runs;
  }

  async run(mistake: Mistake): Promise<MistakeRun> {
    const source = join(this.folder, "src", slug(mistake));
    if (mistake.by === "tsc")
      return this.start(
        mistake,
        [TSC, "--noEmit", "--pretty", "false", "--module", "NodeNext", "--ignoreConfig", "main.ts"],
        source,
      );
    if (mistake.bundle !== undefined) {
      const file = join(this.folder, "out", slug(mistake), mistake.bundle.format === "esm" ? "main.mjs" : "main.cjs");
      await bundle(join(source, "main.ts"), file, mistake.bundle);
      return this.start(mistake, [file], this.folder);
    }
    if (mistake.by === "tsx") return this.start(mistake, ["--import", import.meta.resolve("tsx"), "main.ts"], source);
    return this.start(mistake, [join(this.folder, "out", slug(mistake), "main.js")], this.folder);
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async start({ says, serves, env }: Mistake, args: readonly string[], cwd: string): Promise<MistakeRun> {
    const { NODE_ENV: _mode, RUST_LOG: _filter, ...inherited } = process.env;
    const port = String(await freePort());
    const child = spawn(process.execPath, args, { cwd, env: { ...inherited, PORT: port, ...env }, stdio: "pipe" });
    let output = "";
    let isComplete = false;
    const read = (text: string): void => {
      output += text;
      if (serves !== true || isComplete || !says.every((part) => output.includes(part))) return;
      isComplete = true;
      child.kill("SIGTERM");
    };
    child.stdout.setEncoding("utf8").on("data", read);
    child.stderr.setEncoding("utf8").on("data", read);
    const limit = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
    await once(child, "close");
    clearTimeout(limit);
    return { output, code: child.exitCode };
  }

  /** Programs with faults of type are run too: a user of plain JavaScript makes the same mistakes. */
  private async compile(mistakes: readonly Mistake[]): Promise<void> {
    const { compilerOptions } = JSON.parse(recommendedSettings()) as { readonly compilerOptions: object };
    const options = { ...compilerOptions, rootDir: "src", outDir: "out", skipLibCheck: true, noCheck: true };
    await this.compileFolder("src", options);
    for (const mistake of mistakes.filter(({ settings }) => settings !== undefined))
      await this.compileFolder(`src/${slug(mistake)}`, { ...options, ...mistake.settings });
  }

  private async compileFolder(folder: string, compilerOptions: object): Promise<void> {
    this.write("tsconfig.batch.json", JSON.stringify({ compilerOptions, include: [folder] }));
    const args = [TSC, "-p", "tsconfig.batch.json"];
    await promisify(execFile)(process.execPath, args, { cwd: this.folder }).catch(() => undefined);
  }

  private write(path: string, text: string): void {
    const file = join(this.folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  /** A copy of the package, with the packages that it depends on, and without optional ones. */
  private copyTo(folder: string): void {
    const own = join(this.folder, folder, manifest().name);
    for (const path of ["package.json", "dist/lib"]) cpSync(join(ROOT, path), join(own, path), { recursive: true });
    for (const name of Object.keys(manifest().dependencies)) this.link(join(ROOT, "node_modules", name), name, folder);
  }

  private link(target: string, name: string, folder = "node_modules"): void {
    const path = join(this.folder, folder, name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(target, path, "junction");
  }
}

/** A process that does not report its mistake is killed. */
const LIMIT_MS = 20_000;

function slug({ title }: Mistake): string {
  return title.replaceAll(/\W+/g, "-");
}
