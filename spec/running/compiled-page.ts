/** A program of a page of the guide, compiled alone as a project does it: the folder of all programs belongs to another spec. */
import { spawnSync } from "node:child_process";
import { basename, join } from "node:path";
import { ApplicationFolder } from "../support/application-folder.js";
import { guidePrograms, recommendedSettings } from "../support/guide-programs.js";

/** @param name the page and the file: `watching/figures.ts` @returns the compiled module, until its disposal */
export function compiledPage(name: string): AsyncDisposable & { readonly path: string } {
  const program = guidePrograms().find(({ path }) => path === name);
  if (program === undefined) throw new Error(`the guide has no ${name}`);
  const file = basename(name);
  const folder = new ApplicationFolder({ [`src/${file}`]: program.code, "tsconfig.json": recommendedSettings() });
  folder.install("typescript", "@types/node", "kysely");
  const { status, stdout } = spawnSync(process.execPath, ["node_modules/typescript/bin/tsc", "--skipLibCheck"], {
    cwd: folder.path,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stdout);
  const path = join(folder.path, "dist", file.replace(/\.ts$/, ".js"));
  return { path, [Symbol.asyncDispose]: async () => folder[Symbol.dispose]() };
}
