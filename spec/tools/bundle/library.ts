/** The compiled files of the library, as `tsc` has written them. */

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseAst } from "rolldown/parseAst";
import { filesBelow, manifest, ROOT } from "../../support/sources.js";

export const LIBRARY = join(ROOT, "dist/lib/");

/** The folder of the files that the modules share. */
export const CHUNKS = "chunks";

/** The files that are loaded by their paths, beside the entry points. */
const PROGRAMS = [
  "cli/main.js",
  "cli/dev/application-preload.js",
  "cli/dev/front-end-program.js",
  "http/node-internals.js",
  "http/node-internals-public.js",
  "stages/pages/rendering/render-thread.js",
];

/** Its one import is an error message for bundlers of a front end. */
const NOT_BUNDLED = "entries/server-code.js";

export interface Module {
  readonly code: string;
  /** What it loads when it is loaded: paths from `dist/lib`, and packages with their names. */
  readonly loads: readonly string[];
  /** What it imports later, with `import()`. */
  readonly imports: readonly string[];
}

/** By path, from `dist/lib`. */
export type Library = ReadonlyMap<string, Module>;

export function readLibrary(): Library {
  return new Map(listFiles("lib").map((path) => [path, readModule(path)]));
}

/** The entry points and the programs. */
export function listEntries(): readonly string[] {
  return [...listFiles("lib/entries"), ...PROGRAMS];
}

/** By the sources, because `dist` may hold the file of one that is deleted. */
function listFiles(folder: string): readonly string[] {
  return filesBelow(folder, ".ts")
    .map((path) => path.slice("lib/".length).replace(/\.ts$/, ".js"))
    .filter((path) => path !== NOT_BUNDLED);
}

/** The entry points that a front end may import, each with its edition for a server: they load nothing of Node. */
export function listFrontEndEntries(): readonly string[] {
  const targets = Object.values(manifest().exports).filter((target) => typeof target === "object");
  const files = targets.flatMap(({ browser, default: server }) =>
    browser.endsWith(NOT_BUNDLED) ? [] : [browser, server],
  );
  return [...new Set(files)].map((file) => file.replace("./dist/lib/", ""));
}

function readModule(path: string): Module {
  const code = readFileSync(join(LIBRARY, path), "utf8");
  const { body } = parseAst(code);
  const loads = body.flatMap((node) => ("source" in node && node.source !== null ? [node.source.value] : []));
  const imports = [...code.matchAll(/\bimport\("(\.[^"]+)"\)/g)].map(([, from = ""]) => from);
  const [resolvedLoads = [], resolvedImports = []] = [loads, imports].map((from) =>
    from.map((each) => (each.startsWith(".") ? join(dirname(path), each) : each)),
  );
  return { code, loads: resolvedLoads, imports: resolvedImports };
}
