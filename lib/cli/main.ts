#!/usr/bin/env node
/**
 * The bin `stagecraft`: gives the command line, the streams and the environment of the process to `runCommand`, and ends the process with
 * its exit code. No application imports it.
 */
import * as nodeModule from "node:module";
import { isatty } from "node:tty";
import type { CommandProcess } from "./command.js";

// The cache works only for modules that are imported later. Node has it since 22.8.
(nodeModule as { readonly enableCompileCache?: () => void }).enableCompileCache?.();
const { formatError, runCommand } = await import("./program.js");
const { Signals } = await import("../server/signals.js");

/** The result goes to standard output; what the application prints while it loads does not. */
const writeResult = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr);

process.stdout.on("error", endOutput);
process.on("uncaughtException", (error) => {
  process.stderr.write(`${formatError(error, process.argv.includes("--verbose"))}\n`);
  process.exit(1);
});

/** The reader of a pipe may have ended, as `head` does. A disk that is full has a part of the result alone. */
function endOutput({ code, message }: NodeJS.ErrnoException): void {
  if (code === "EPIPE") process.exit(0);
  process.stderr.write(`the result cannot be written: ${message}\n`);
  process.exit(1);
}

const given: CommandProcess = {
  cwd: process.cwd(),
  env: process.env,
  stdout: { write: writeResult },
  stderr: process.stderr,
  isInteractive: isatty(0) && isatty(1) && (process.env["CI"] ?? "") === "",
  get signal() {
    return (aborter ??= abortOnSignals()).signal;
  },
};
let aborter: AbortController | undefined;

/** The second signal ends the process at once. */
function abortOnSignals(): AbortController {
  const controller = new AbortController();
  new Signals({ monotonic: () => performance.now() }).listen(() => controller.abort());
  return controller;
}

const exitCode = await runCommand(process.argv.slice(2), given);
await new Promise<void>((resolve) => void writeResult("", () => resolve()));
await new Promise<void>((resolve) => void process.stderr.write("", () => resolve()));
process.exit(exitCode);
