/**
 * Runs a few lines of a program in a process of their own, for what only a process can show: its standard error, its exit, a crash.
 * The program finds the library's files by `load("entries/observe.js")`.
 */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";

const LIBRARY = new URL("../../lib/", import.meta.url).href;
const PRELUDE = `const load = (path) => import(${JSON.stringify(LIBRARY)} + path);\n`;

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export type Child = ChildProcessByStdio<null, Readable, Readable>;

/** Starts the program; its output is for the caller to read. */
export function startProgram(program: string, env: Readonly<Record<string, string>> = {}): Child {
  const { RUST_LOG: _, NODE_ENV: __, ...inherited } = process.env;
  return spawn(process.execPath, ["--input-type=module", "--eval", PRELUDE + program], {
    env: { ...inherited, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** Runs the program to its end. */
export async function runProgram(program: string, env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const child = startProgram(program, env);
  const [stdout, stderr, how] = await Promise.all([text(child.stdout), text(child.stderr), ended(child)]);
  return { ...how, stdout, stderr };
}

/** How it ended. To be asked for before it has. */
export function ended(child: Child): Promise<Pick<Ended, "code" | "signal">> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
}
