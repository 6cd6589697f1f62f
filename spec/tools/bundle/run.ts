/**
 * Bundles the compiled library in its place: `tsc` writes one file for each source, and loading hundreds of them is most of the start of an
 * application. Each file keeps its path and exports the same values, from the chunks in `dist/lib/chunks`. So a program has one copy of each
 * class, whether it imports an entry point by name, or as specs do a module by its path.
 *
 * `tsc` writes all its files again. So after `npx tsc -p .` alone the library is whole too, in separate files.
 *
 * @example
 * npx tsc -p . && node dist/spec/tools/bundle/run.js
 */

import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { rolldown, type OutputChunk, type Plugin } from "rolldown";
import { groupModules } from "./groups.js";
import { CHUNKS, LIBRARY, readLibrary, type Library } from "./library.js";

async function bundle(modules: Library): Promise<void> {
  const folder = mkdtempSync(join(LIBRARY, "../bundle-"));
  try {
    expectPlaces(modules, await write(modules, folder));
    rmSync(join(LIBRARY, CHUNKS), { recursive: true, force: true });
    // The maps of tsc are those of code that is in the chunks now.
    for (const path of modules.keys()) rmSync(`${LIBRARY}${path}.map`, { force: true });
    cpSync(folder, LIBRARY, { recursive: true });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function write(modules: Library, folder: string): Promise<readonly OutputChunk[]> {
  const group = groupModules(modules);
  const build = await rolldown({
    input: Object.fromEntries([...modules.keys()].map((path) => [path.replace(/\.js$/, ""), LIBRARY + path])),
    platform: "neutral",
    preserveEntrySignatures: "allow-extension",
    treeshake: false,
    external: (id) => /^[^./]/.test(id),
    plugins: [compiledModules(modules)],
  });
  const { output } = await build.write({
    dir: folder,
    format: "esm",
    sourcemap: true,
    keepNames: true,
    // The default would drop a call whose result is not used, such as the decodeURIComponent that checks a form.
    minify: false,
    comments: { jsdoc: false },
    entryFileNames: "[name].js",
    chunkFileNames: `${CHUNKS}/[name].js`,
    codeSplitting: {
      groups: [{ debugName: "modules", name: (id) => group(relative(LIBRARY, id)) }],
      includeDependenciesRecursively: false,
    },
  });
  return output.filter((file) => file.type === "chunk");
}

/** The compiled modules with their source maps. */
function compiledModules(modules: Library): Plugin {
  return {
    name: "compiled-modules",
    resolveId(id, importer = "") {
      // In a chunk `require` would need a module of Node beside the helpers that the chunks for a front end import.
      return id.endsWith(".cjs") ? { id: fromChunks(relative(LIBRARY, importer), id), external: true } : null;
    },
    load(id) {
      const path = relative(LIBRARY, id);
      const module = modules.get(path);
      if (module === undefined) return null;
      return { code: placeInChunks(path, module.code), map: readFileSync(`${id}.map`, "utf8") };
    },
  };
}

const PLACE = /new URL\("([^"]+)", import\.meta\.url\)|import\.meta\.dirname/g;

/** A module names files from its folder. A file that is not there is one of a new project, in the text of a template. */
function placeInChunks(path: string, code: string): string {
  return code.replaceAll(PLACE, (place, file: string | undefined) => {
    if (file === undefined) return `(import.meta.dirname + "/${fromChunks(path, "")}")`;
    return existsSync(join(LIBRARY, dirname(path), file))
      ? `new URL("${fromChunks(path, file)}", import.meta.url)`
      : place;
  });
}

/** The path from the folder of the chunks to a file that a module names. */
function fromChunks(path: string, file: string): string {
  return join("..", dirname(path), file);
}

function expectPlaces(modules: Library, chunks: readonly OutputChunk[]): void {
  for (const { fileName, moduleIds } of chunks) {
    const paths = moduleIds.map((id) => relative(LIBRARY, id));
    const named = paths.filter((path) => new RegExp(PLACE).test(modules.get(path)?.code ?? ""));
    if (named.length > 0 && dirname(fileName) !== CHUNKS)
      throw new Error(`${fileName} names files from a folder that is not below dist/lib: ${named.join(", ")}`);
  }
}

const library = readLibrary();
// `npm pack` calls the program too, after a build.
const isBundled = library.get("entries/main.js")?.loads.some((path) => path.startsWith(`${CHUNKS}/`)) === true;
if (!isBundled) await bundle(library);
