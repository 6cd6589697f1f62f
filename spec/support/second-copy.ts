/**
 * A second copy of the built package in the process of a spec, with classes and registries of its own: in another folder, as two installed
 * versions are.
 */
import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "./sources.js";

type Main = typeof import("@stagecraft/framework");
type Jobs = typeof import("@stagecraft/framework/jobs");

export interface SecondCopy extends Main, Pick<Jobs, "Every" | "Handles" | "job" | "schedule">, Disposable {
  /** As messages name it. */
  readonly place: string;
}

/** The place of the package itself, as messages name it. */
export const FIRST_PLACE = pathToFileURL(join(ROOT, "dist/")).href;

export async function loadSecondCopy(): Promise<SecondCopy> {
  const folder = mkdtempSync(join(tmpdir(), "copy-"));
  cpSync(join(ROOT, "dist/lib"), join(folder, "dist/lib"), {
    recursive: true,
    filter: (path) => !path.endsWith(".map"),
  });
  cpSync(join(ROOT, "package.json"), join(folder, "package.json"));
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  const place = `${pathToFileURL(folder).href}/dist/`;
  // The files have the types of the package itself.
  const main = (await import(`${place}lib/entries/main.js`)) as Main;
  const { Every, Handles, job, schedule } = (await import(`${place}lib/entries/jobs.js`)) as Jobs;
  const dispose = () => rmSync(folder, { recursive: true });
  return { ...main, Every, Handles, job, schedule, place, [Symbol.dispose]: dispose };
}
