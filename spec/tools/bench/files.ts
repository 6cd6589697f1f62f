/** The files of the `static` scenarios, in a folder that is created at first use and removed at the end of the process. */

import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface BenchFile {
  readonly path: string;
  readonly content: string;
}

const LINE = "Words that a browser asks for again and again, and that change rarely.\n";

function file(name: string, bytes: number): BenchFile {
  return { path: `/${name}`, content: LINE.repeat(Math.ceil(bytes / LINE.length)).slice(0, bytes) };
}

export const SMALL_FILE = file("small.txt", 4096);
export const LARGE_FILE = file("large.txt", 1_048_576);

/** The modification time of both files. */
export const MODIFIED = new Date("2026-03-01T12:00:00Z");

let folder: string | undefined;

export function filesFolder(): string {
  folder ??= makeFolder();
  return folder;
}

function makeFolder(): string {
  const created = mkdtempSync(join(tmpdir(), "bench-files-"));
  for (const { path, content } of [SMALL_FILE, LARGE_FILE]) {
    writeFileSync(join(created, path), content);
    utimesSync(join(created, path), MODIFIED, MODIFIED);
  }
  process.once("exit", () => rmSync(created, { recursive: true }));
  return created;
}
