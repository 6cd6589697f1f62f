/**
 * An error of the setup that the program does not catch ends the process with one line on standard error: code, message and the line of
 * the program. Node would print a code frame of the library, and the stack.
 *
 * Not for errors of requests, which become responses, and not for faults of the framework, whose stack is needed.
 */
import { FrameworkError } from "./framework-error.js";
import { inspectThrown } from "./thrown-value.js";

/** In the package this module is a file, or in a chunk of its entry points, in a folder of the same depth. */
const IN_PACKAGE = /^file:.*\/lib\/(?:errors\/setup-error|chunks\/[\w-]+)\.\w+$/;

/** `undefined` in a bundle, where the library and the program are one file. */
const LIBRARY = listPlaces((import.meta as { readonly url?: string }).url);

/** An error of the setup: `throw createSetupError("E_CODE", message)`. */
export function createSetupError(code: string, message: string, cause?: unknown): FrameworkError {
  return setupError(new FrameworkError(message, { code, ...(cause !== undefined && { cause }) }));
}

/** The error, which is printed on one line if the program does not catch it: `throw setupError(new MetricsError(…))`. */
export function setupError<E extends FrameworkError>(error: E, line = findCaller(error)): E {
  printIfUncaught(error, `${error.code} ${error.message}${line === undefined ? "" : ` (at ${line})`}`);
  return error;
}

/**
 * Prints `text` and exits with 1 if the error reaches the top of the program. Node reports such an error before the next turn of the
 * event loop; after it the listener is removed. A program that handles uncaught errors gets it instead, and so does the parent of a worker.
 */
export function printIfUncaught(error: Error, text = error.message): void {
  // A browser has no process to end, so the error itself must suffice.
  if (!isNode()) return;
  texts.set(error, text);
  if (!isMainThread() || process.listenerCount("uncaughtException") > 0) return;
  process.once("uncaughtException", print);
  setImmediate(() => process.off("uncaughtException", print));
}

/** False in a browser, also where a bundler gives it a `process` without methods. */
function isNode(): boolean {
  return typeof process === "object" && typeof process.getBuiltinModule === "function";
}

/** The module is not imported: it slows the start of an application, and the endpoints, which a browser loads, import this file. */
function isMainThread(): boolean {
  return process.getBuiltinModule("node:worker_threads").isMainThread;
}

/** Several errors may be created in one turn of the event loop; at most one of them is uncaught. */
const texts = new WeakMap<Error, string>();

function print(uncaught: unknown): void {
  const text = uncaught instanceof Error ? texts.get(uncaught) : undefined;
  process.stderr.write(`${text ?? inspectThrown(uncaught)}\n`);
  process.exit(1);
}

/** The place in the program from which it called the library: `file:line:column`. Unknown in a bundle. */
export function findCaller({ stack }: Error): string | undefined {
  return (
    LIBRARY && findPlace(listFrames(stack).filter((frame) => isLibraryFrame(frame) !== true && !CALLER.test(frame)))
  );
}

/** The package calls the decorators of a program that is compiled with metadata. */
const CALLER = /[\\/]reflect-metadata[\\/]/;

/** The place of the innermost frame that is neither Node's nor a built-in function's: `file:line:column`. */
export function findPlace(frames: readonly string[]): string | undefined {
  return frames.map((frame) => PLACE.exec(frame)?.[1]).find((place) => place !== undefined);
}

const PLACE = /[( ]((?:file:|\/|[A-Za-z]:[\\/]).*:\d+:\d+)\)?$/;

/** The frames of a stack, innermost first. It is no text where an `Error.prepareStackTrace` of the program returns call sites or another value. */
export function listFrames(stack: unknown): readonly string[] {
  if (Array.isArray(stack)) return stack.map((site) => `    at ${String(site)}`);
  return typeof stack === "string" ? stack.split("\n").filter((line) => line.startsWith("    at ")) : [];
}

/** Whether a frame is in the library; `undefined` in a bundle. */
export function isLibraryFrame(frame: string): boolean | undefined {
  return LIBRARY?.some((place) => frame.includes(place));
}

/** The folders that frames of the library name: its files, and under `--enable-source-maps` its sources. */
function listPlaces(file: string | undefined): readonly string[] | undefined {
  // A bundle of an application has the URL of its one file, or in the format of CommonJS none.
  if (file === undefined || !IN_PACKAGE.test(file) || !isNode()) return undefined;
  const { fileURLToPath } = process.getBuiltinModule("node:url");
  const folders = [new URL("../", file), new URL("../../../lib/", file)];
  return folders.flatMap((folder) => [folder.href, fileURLToPath(folder)]);
}
