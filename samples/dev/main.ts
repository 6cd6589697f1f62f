/**
 * `npm run dev`, or `npm run dev -- hello`: runs a sample, compiles after each change of `lib` and `samples`, and restarts the sample when
 * the compilation succeeds. A compilation with errors prints them, and the running process goes on.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Compiler, type Compilation } from "./compiler.js";
import { RestartedProgram } from "./restarted-program.js";

/** What runs beside the others during development, for example the development server of a front end. */
interface Part {
  start(): void;
  /** Called when changed sources were compiled without an error. */
  compiled?(): void;
  stop(): void | Promise<void>;
  /** Ends at once, at the second signal. */
  kill?(): void;
}

const ROOT = join(import.meta.dirname, "../../..");
const sample = process.argv[2] ?? "links";
const program = join(ROOT, "dist/samples", sample, "main.js");

function application(): Part {
  const restarted = new RestartedProgram(program);
  return {
    start: () => restarted.restart(),
    compiled: () => restarted.restart(),
    stop: () => restarted.stop(),
    kill: () => restarted.kill(),
  };
}

const parts: readonly Part[] = [application()];
const folders = ["lib", "samples"].map((folder) => join(ROOT, folder));
const compiler = new Compiler(join(ROOT, "samples/dev"), folders, report);

function report({ ok, output }: Compilation): void {
  console.error(ok ? "compiled; restarting" : `${output}the running process stays until the sources compile`);
  if (ok) for (const part of parts) part.compiled?.();
}

let isStopping = false;

/** The first signal drains, the second one ends at once. */
function stop(): void {
  if (isStopping) for (const part of parts) part.kill?.();
  isStopping = true;
  compiler.stop();
  for (const part of parts) void part.stop();
}

if (existsSync(program)) {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, stop);
  compiler.start();
  for (const part of parts) part.start();
} else {
  console.error(`there is no sample "${sample}": dist/samples/${sample}/main.js does not exist`);
  process.exitCode = 1;
}
