/**
 * A folder with an application that has installed the package, and the command `stagecraft` in it: a process of the built bin, with its exit
 * code and its streams.
 *
 * @example
 * using folder = new ApplicationFolder({ "app.js": "export default …" });
 * const { code, stdout, stderr } = await folder.run("routes", "--json");
 */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { runCommand } from "../../lib/cli/program.js";
import { type Child, ended, type Ended } from "./program.js";
import { manifest, ROOT } from "./sources.js";

export const BIN = join(ROOT, "dist/lib/cli/main.js");

/** An application with two routes and one stage. */
export const SMALL_APPLICATION = `
  import { Application, Route, Routes } from "@stagecraft/framework";
  function show() {}
  function create() {}
  const routes = [Route.get("/links/{id}", show).name("links.show"), Route.post("/links", create)];
  export default () => Application.create().routes(new Routes(routes)).requestId();
`;

/** The package.json of an application whose module is `app.js`. */
const PACKAGE = JSON.stringify({ name: "shop", type: "module", stagecraft: { app: "app.js" } });

export type Files = Readonly<Record<string, string>>;

export class ApplicationFolder implements Disposable {
  readonly path = realpathSync(mkdtempSync(join(tmpdir(), "application-")));

  /** @param files by path; package.json and the installed package are there unless they are given */
  constructor(files: Files = { "app.js": SMALL_APPLICATION }) {
    for (const [path, content] of Object.entries({ "package.json": PACKAGE, ...files })) this.write(path, content);
    this.link(manifest().name, ROOT);
  }

  write(path: string, content: string): void {
    const file = join(this.path, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }

  read(path: string): string {
    return readFileSync(join(this.path, path), "utf8");
  }

  /** Installs a package of the repository. */
  install(...names: readonly string[]): void {
    for (const name of names) this.link(name, join(ROOT, "node_modules", name));
  }

  /** Runs the command in a process of its own. */
  run(...args: readonly string[]): Promise<Ended> {
    return runBin(args, { cwd: this.path });
  }

  /** Starts the command, for a test that sends signals to it. The caller reads its output. */
  start(args: readonly string[], env: Readonly<Record<string, string>> = {}): Child {
    return startBin(args, { cwd: this.path, env });
  }

  /** Runs the command in the process of the spec, which is faster. Each folder has modules of its own. */
  async call(...args: readonly string[]): Promise<Omit<Ended, "signal">> {
    const written = { stdout: "", stderr: "" };
    const code = await runCommand(args, {
      cwd: this.path,
      env: {},
      stdout: { write: (part) => void (written.stdout += part) },
      stderr: { write: (part) => void (written.stderr += part) },
      isInteractive: false,
      signal: new AbortController().signal,
    });
    return { code, ...written };
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }

  private link(name: string, target: string): void {
    const place = join(this.path, "node_modules", name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(target, place, "junction");
  }
}

interface RunOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs the bin to its end, without a terminal. */
export async function runBin(args: readonly string[], options: RunOptions): Promise<Ended> {
  const child = startBin(args, options);
  const [stdout, stderr, how] = await Promise.all([text(child.stdout), text(child.stderr), ended(child)]);
  return { ...how, stdout, stderr };
}

function startBin(args: readonly string[], { cwd, env = {} }: RunOptions): Child {
  const { RUST_LOG: _, NODE_ENV: __, ...inherited } = process.env;
  return spawn(process.execPath, [BIN, ...args], {
    cwd,
    env: { ...inherited, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}
