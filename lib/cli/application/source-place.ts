/**
 * The place in the source for a place in its JavaScript, by the source map beside it. Only places that are shown are looked up: Node's
 * `--enable-source-maps` would read the map of every module.
 */
import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { dirname, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** @param place `file:///…/app.js:3:7` or `/…/app.js:3:7` @returns `src/app.ts:2:5`, from `folder` */
export function toSourcePlace(place: string, folder: string): string {
  const [, file = place, line = "1", column = "1"] = /^(.*):(\d+):(\d+)$/.exec(place) ?? [];
  const path = file.startsWith("file:") ? fileURLToPath(file) : file;
  const origin = findOrigin(path, Number(line), Number(column));
  return `${relative(folder, origin.path)}:${origin.line}:${origin.column}`;
}

interface SourcePosition {
  readonly path: string;
  readonly line: number;
  readonly column: number;
}

/** Without a map, or without an entry in it, the place itself. */
function findOrigin(path: string, line: number, column: number): SourcePosition {
  const map = readMap(path);
  const entry = map?.findEntry(line - 1, column - 1);
  if (entry === undefined || !("originalSource" in entry)) return { path, line, column };
  const source = resolve(dirname(path), entry.originalSource);
  return { path: source, line: entry.originalLine + 1, column: entry.originalColumn + 1 };
}

const maps = new Map<string, SourceMap | undefined>();

function readMap(path: string): SourceMap | undefined {
  if (!maps.has(path)) maps.set(path, tryReadMap(path));
  return maps.get(path);
}

function tryReadMap(path: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${path}.map`, "utf8")));
  } catch {
    return undefined;
  }
}
