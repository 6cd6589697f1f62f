/**
 * Which modules share a chunk. Modules that the same roots load share one: a root is an entry point, a program, or a module that another
 * one imports with `import()`. So a root loads no package that its modules do not load.
 *
 * Each chunk costs a start about a millisecond, and nearly every application loads the main entry point. So all that it loads is a few
 * chunks: one for each set of packages, one for each front end, and one for what the help of the command loads too.
 */

import { basename } from "node:path";
import { listFrontEndEntries, listEntries, type Library } from "./library.js";

/** What the command loads for its help, and before the program that it starts: the first import of the framework reads NODE_ENV. */
const COMMAND = ["cli/main.js", "cli/program.js", "cli/start.js", "server/signals.js"];

/** The name of the chunk of a module. Entry points and programs are in their files. */
export function groupModules(library: Library): (path: string) => string | null {
  const main = loadedBy(library, ["entries/main.js"]);
  const command = loadedBy(library, COMMAND);
  const frontEnds = listFrontEndEntries().map((entry) => loadedBy(library, [entry]));
  const roots = listRoots(library).map((root) => loadedBy(library, [root]));
  const names = new Map<string, string>();

  function nameGroup(path: string): string {
    if (!main.has(path)) return nameFirst(names, listIndices(roots, path), path);
    const inFrontEnds = listIndices(frontEnds, path);
    if (inFrontEnds !== "") return `front-end-${inFrontEnds}`;
    return command.has(path) ? "main-command" : ["main", ...listPackages(library, path)].join("-");
  }

  const entries = new Set(listEntries());
  const modules = [...library.keys()].filter((path) => !entries.has(path));
  const groups = new Map(modules.map((path) => [path, nameGroup(path)]));
  return (path) => groups.get(path) ?? null;
}

function listRoots(library: Library): readonly string[] {
  const imported = [...library.values()].flatMap(({ imports }) => imports);
  return [...new Set([...listEntries(), ...imported])].filter((path) => library.has(path));
}

/** Which of the roots load the module. */
function listIndices(roots: readonly ReadonlySet<string>[], path: string): string {
  return roots.flatMap((loaded, index) => (loaded.has(path) ? [index] : [])).join("-");
}

/** A group of modules has the name of the first of them. */
function nameFirst(names: Map<string, string>, key: string, path: string): string {
  const name = names.get(key) ?? path.replace(/\.js$/, "").replaceAll("/", "-");
  names.set(key, name);
  return name;
}

/** The names of the files in CommonJS, which load packages, and of other packages. */
function listPackages(library: Library, path: string): readonly string[] {
  return [...loadedBy(library, [path])]
    .filter((each) => each.endsWith(".cjs") || (!library.has(each) && !/^(?:node:|#)/.test(each)))
    .map((each) => basename(each, ".cjs"))
    .toSorted();
}

/** The modules, and the packages, that a start with these modules loads. */
function loadedBy(library: Library, paths: readonly string[]): ReadonlySet<string> {
  const found = new Set(paths);
  // A set that grows is visited to its end.
  for (const path of found) for (const each of library.get(path)?.loads ?? []) found.add(each);
  return found;
}
