/**
 * The specs that need no server, no other process and no browser: the ones for `npm run test:fast` and `npm run test:watch`. A file
 * belongs to them when neither its text nor a file of `spec` or `samples` that it imports starts one.
 */
import { sourcesBelow, type Source } from "../../support/sources.js";

/** Each of them starts a server, a process or a browser, or waits for the system's clock. */
const STARTS =
  /\b(?:testApp|serve|listen|connect|setTimeout|Worker)\(|"node:(?:child_process|timers\/promises)"|"playwright-core"/;

/** Compiled files, from the repository. */
export function fastSpecs(): readonly string[] {
  const sources = [...sourcesBelow("spec"), ...sourcesBelow("samples")];
  const byPath = new Map(sources.map((source) => [source.path, source]));
  return sources
    .filter(({ path }) => path.endsWith(".spec.ts") && !reaches(path, byPath, new Set()))
    .map(({ path }) => `dist/${path.replace(/\.ts$/, ".js")}`);
}

/** Whether the file or one that it imports starts something. */
function reaches(path: string, byPath: ReadonlyMap<string, Source>, seen: Set<string>): boolean {
  const source = byPath.get(path);
  if (source === undefined || seen.has(path)) return false;
  seen.add(path);
  return (
    STARTS.test(source.code) || source.imports.some(({ file }) => file !== undefined && reaches(file, byPath, seen))
  );
}
