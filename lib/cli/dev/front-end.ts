/**
 * Vite's development server beside the application, in another process, where the application has a front end: a `vite.config` beside
 * its package.json. The settings of `stagecraft` there name the module that renders pages on the server.
 *
 * @example
 * const vite = new FrontEndProcess({ root: cwd }, { endpoint: "/tmp/dev/vite.sock", print });
 * vite.stop();
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { FrontEndSettings } from "../application/package-settings.js";
import { killGroup } from "./process-group.js";

export interface ViteFrontEnd extends FrontEndSettings {
  /** The folder of the sources of the front end. */
  readonly root: string;
  /** A module of JavaScript whose `viteConfig(root)` returns the configuration; the `vite.config` that Vite finds unless set. */
  readonly configModule?: string | undefined;
}

const PROGRAM = fileURLToPath(new URL("front-end-program.js", import.meta.url));
const CONFIG_FILES = ["js", "mjs", "ts", "mts", "cjs", "cts"].map((ending) => `vite.config.${ending}`);

/** Whether a folder has a configuration of Vite. */
export function hasFrontEnd(folder: string): boolean {
  return CONFIG_FILES.some((name) => existsSync(join(folder, name)));
}

/** The folders with the sources of the front end, whose changes Vite sees. */
export function listFrontEndFolders({ root, serverEntry, stylesheet }: ViteFrontEnd): readonly string[] {
  const files = [serverEntry, stylesheet].filter((file) => file !== undefined);
  return [join(root, "pages"), ...files.map((file) => dirname(join(root, file)))];
}

interface FrontEndPlace {
  readonly endpoint: string;
  readonly print: (text: string) => void;
}

export class FrontEndProcess {
  /** Resolves when Vite listens, or has ended. */
  readonly settled: Promise<unknown>;
  private readonly child: ChildProcess;
  private readonly ended: Promise<void>;
  private isStopped = false;

  constructor(frontEnd: ViteFrontEnd, { endpoint, print }: FrontEndPlace) {
    this.child = spawn(process.execPath, [PROGRAM, JSON.stringify({ ...frontEnd, endpoint })], {
      cwd: frontEnd.root,
      env: { ...process.env, NODE_ENV: "development" },
      stdio: ["pipe", "inherit", "inherit", "ipc"],
      detached: true,
    });
    this.child.stdin?.on("error", () => undefined);
    this.settled = Promise.race([once(this.child, "message"), once(this.child, "exit")]).catch(() => undefined);
    this.ended = new Promise((resolve) => {
      this.child.once("error", () => resolve());
      this.child.once("exit", (code, signal) => {
        if (!this.isStopped) print(`Vite ended with ${signal === null ? `code ${code ?? 0}` : `signal ${signal}`}.\n`);
        resolve();
      });
    });
  }

  /** It has nothing to finish. */
  stop(): Promise<void> {
    this.isStopped = true;
    if (this.child.pid !== undefined && this.child.exitCode === null) killGroup(this.child.pid);
    return this.ended;
  }
}
