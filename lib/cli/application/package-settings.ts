/**
 * The settings of an application for the command: `stagecraft` of its package.json.
 *
 * @example
 * const { main = "src/main.ts" } = readSettings("/shop");
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { CommandError } from "../command.js";
import { readManifest } from "./find-application.js";

export interface PackageSettings {
  /** The source that runs the application; `main.ts` beside its module unless set. */
  readonly main?: string;
  /** Further names under which `dev` responds. */
  readonly allowedHosts?: readonly string[];
  readonly frontEnd?: FrontEndSettings;
}

export interface FrontEndSettings {
  /** The module that exports `render`, from the root of Vite. */
  readonly serverEntry?: string | undefined;
  /** The stylesheet of every page, from the root of Vite: a page that the server renders has its styles before the scripts run. */
  readonly stylesheet?: string | undefined;
}

/** @throws CommandError for a value of another form @param root the folder of package.json, which may have none */
export function readSettings(root: string): PackageSettings {
  const file = join(root, "package.json");
  const manifest: unknown = existsSync(file) ? readManifest(file) : {};
  const { main, allowedHosts = [], frontEnd = {} } = Object(Object(manifest).stagecraft);
  const { serverEntry, stylesheet } = Object(frontEnd);
  const texts = { "stagecraft.main": main, "frontEnd.serverEntry": serverEntry, "frontEnd.stylesheet": stylesheet };
  for (const [name, value] of Object.entries(texts))
    if (value !== undefined && typeof value !== "string")
      throw new CommandError(`${name} is no path`, { where: file, fix: 'write a path such as "src/main.ts"' });
  if (Array.isArray(allowedHosts) && allowedHosts.every((name) => typeof name === "string"))
    return { main, allowedHosts, frontEnd: { serverEntry, stylesheet } };
  throw new CommandError("stagecraft.allowedHosts is no list of names", {
    where: file,
    fix: 'write names without a port, for example ["shop.test", ".preview.example"]',
  });
}
