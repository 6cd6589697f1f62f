/** A folder for one spec, removed after it, and the list of everything in it. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export function temporaryFolder(): { readonly path: string; remaining(): readonly string[] } & Disposable {
  const path = mkdtempSync(join(tmpdir(), "storage-"));
  return {
    path,
    remaining: () => readdirSync(path, { recursive: true }).map(String).toSorted(),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}
