/**
 * Runs a program text in a child process, for tests of standard error, the exit code and a crash. The program loads files of the library
 * with `load("observe/logging/json-log.js")`, and sends a GET request with `getFrom(url)`, because the first `fetch` of a process takes 0.1 s of
 * a processor. For a compiled program that serves requests use `Child` of child.ts.
 */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

const LIBRARY = fileURLToPath(new URL("../../lib/", import.meta.url));
/** `require()` loads the same modules as `import()`, with a sixth less of a processor. */
const PRELUDE = `
  import { createRequire } from "node:module";
  const load = (path) => createRequire(${JSON.stringify(LIBRARY)})("./" + path);
  async function getFrom(url) {
    const { get } = await import("node:http");
    return new Promise((resolve, reject) => {
      get(url, { agent: false }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part) => (text += part)).on("error", reject);
        response.on("end", () => resolve({ status: response.statusCode, text }));
      }).on("error", reject);
    });
  }
`;

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export type Child = ChildProcessByStdio<null, Readable, Readable>;

/** Starts the program. The caller reads its output. */
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

/** Resolves to the exit code and the signal. Call it before the program has ended. */
export function ended(child: Child): Promise<Pick<Ended, "code" | "signal">> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
}
