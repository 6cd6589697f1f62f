/**
 * Collects what a process loads: the packages, the files of the library, and the modules of Node. The process starts with a preload, which
 * writes them to a file when the process exits.
 *
 * @example
 * using loaded = new LoadedModules();
 * const child = spawn(process.execPath, [program], { env: { ...process.env, ...loaded.env } });
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PRELOAD = `
  import { Session } from "node:inspector";
  import { writeFileSync } from "node:fs";
  const urls = [];
  const session = new Session();
  session.connect();
  session.on("Debugger.scriptParsed", ({ params }) => urls.push(params.url));
  session.post("Debugger.enable");
  process.on("exit", () => writeFileSync(process.env.LOADED, JSON.stringify({ urls, ofNode: process.moduleLoadList })));
`;

interface Written {
  readonly urls: readonly string[];
  /** Such as `NativeModule net`. */
  readonly ofNode: readonly string[];
}

export class LoadedModules implements Disposable {
  private readonly folder = mkdtempSync(join(tmpdir(), "loaded-"));
  private readonly file = join(this.folder, "loaded.json");

  /** The variables for the process. */
  get env(): Readonly<Record<string, string>> {
    return { LOADED: this.file, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(PRELOAD)}` };
  }

  /** The URL or path of each script; after the exit of the process. */
  listScripts(): readonly string[] {
    return this.read().urls;
  }

  /** The names of the packages, sorted; after the exit of the process. */
  listPackages(): readonly string[] {
    const found = this.listScripts().map((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1]);
    return [...new Set(found.filter((name) => name !== undefined))].toSorted();
  }

  /** The modules of Node, its internal ones too; after the exit of the process. */
  listModulesOfNode(): readonly string[] {
    return this.read().ofNode.map((name) => name.replace("NativeModule ", ""));
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private read(): Written {
    // The preload writes this type.
    return JSON.parse(readFileSync(this.file, "utf8")) as Written;
  }
}
