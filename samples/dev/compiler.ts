/**
 * Compiles a TypeScript project after each change of its sources. A change during a compilation starts the next one after it. The project
 * sets `noEmitOnError`, so that a compilation with errors leaves the last good output. For Node's own sources use `node --watch`.
 *
 * @example
 * new Compiler("tsconfig.json", ["lib"], ({ ok, output }) => console.error(ok ? "compiled" : output)).start();
 * compiler.start();
 */
import { spawn } from "node:child_process";
import { existsSync, type FSWatcher, readdirSync, watch } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";

export interface Compilation {
  readonly ok: boolean;
  /** The errors of the compiler; empty without an error. */
  readonly output: string;
}

/** An editor writes several files, or one in several steps; both count as one change. */
const QUIET_MS = 50;

const TSC = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");

export class Compiler {
  private readonly watchers = new Map<string, FSWatcher>();
  private timer: NodeJS.Timeout | undefined;
  private isCompiling = false;
  private isStale = false;

  /**
   * @param project the `tsconfig.json`
   * @param folders with the sources that are watched
   * @param onCompiled called after each compilation
   * @param ignored folders in these that others compile
   */
  constructor(
    private readonly project: string,
    private readonly folders: readonly string[],
    private readonly onCompiled: (compilation: Compilation) => void,
    private readonly ignored: readonly string[] = [],
  ) {}

  start(): void {
    for (const folder of this.folders) this.watchBelow(folder);
  }

  stop(): void {
    clearTimeout(this.timer);
    for (const watcher of this.watchers.values()) watcher.close();
    this.watchers.clear();
  }

  /** Each folder by itself: Node 20 on Linux loses a file of a recursive watch when an editor replaces it. */
  private watchBelow(folder: string): void {
    if (this.ignored.includes(folder)) return;
    if (!this.watchers.has(folder)) {
      const watcher = watch(folder, (_event, name) => this.changed(folder, name));
      watcher.on("error", () => this.forget(folder));
      this.watchers.set(folder, watcher);
    }
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory() && entry.name !== "node_modules") this.watchBelow(join(folder, entry.name));
    }
  }

  private forget(folder: string): void {
    this.watchers.get(folder)?.close();
    this.watchers.delete(folder);
  }

  private changed(folder: string, name: string | null): void {
    if (!existsSync(folder)) return this.forget(folder);
    this.watchBelow(folder);
    // No name means that the system does not say which file changed.
    if (name !== null && !/\.(?:tsx?|json)$/.test(name)) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.compile(), QUIET_MS);
  }

  private async compile(): Promise<void> {
    if (this.isCompiling) {
      this.isStale = true;
      return;
    }
    this.isCompiling = true;
    do {
      this.isStale = false;
      const compilation = await compiled(this.project);
      if (this.watchers.size > 0 && !this.isStale) this.onCompiled(compilation);
    } while (this.isStale);
    this.isCompiling = false;
  }
}

async function compiled(project: string): Promise<Compilation> {
  const compiler = spawn(process.execPath, [TSC, "-p", project], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<number | null>((resolve) => compiler.once("close", resolve));
  const output = await text(compiler.stdout);
  return { ok: (await ended) === 0, output };
}
