/**
 * All programs. Each is `{ name, package, version, run(host, module) }`: `name` is its own; `package`, `version` and
 * `use` are shown in the table. `alone` gives it a process of its own, because the package changes Node's modules. `because` is the
 * reason of a difference. `asOnKoa` describes a result that a reader does not expect and that is Koa's too. `module` is what `import` of
 * the package's default gives, or all of its exports where it has no default; a third argument holds all exports.
 */
import { readFileSync } from "node:fs";
import { EXTENSIONS } from "./programs/extensions.mjs";
import { IN_FRONT } from "./programs/in-front.mjs";
import { KOA } from "./programs/koa.mjs";
import { MIDDLEWARE } from "./programs/middleware.mjs";
import { ROUTERS } from "./programs/routers.mjs";
import { SOCKETS } from "./programs/sockets.mjs";
import { WATCHERS } from "./programs/watchers.mjs";

export const PROGRAMS = [...ROUTERS, ...MIDDLEWARE, ...EXTENSIONS, ...IN_FRONT, ...WATCHERS, ...SOCKETS, ...KOA].map(
  complete,
);

/** `alias` is the folder of the package, where several versions of it are installed. A part of Node has its version already. */
function complete({ package: name, alias = name, ...program }) {
  if ("version" in program) return { package: name, name, ...program };
  const { version } = JSON.parse(readFileSync(new URL(`node_modules/${alias}/package.json`, import.meta.url), "utf8"));
  return { package: name, alias, version: shownVersion(version, program), name: alias, ...program };
}

/** The major version; below 1.0, and where the program asks for it, the minor version too. */
export function shownVersion(version, { minor = version.startsWith("0.") } = {}) {
  const parts = version.split(".");
  return minor ? `${parts[0]}.${parts[1]}` : parts[0];
}

/** The second and third argument of `run`. */
export async function load({ alias }) {
  if (alias === undefined) return [];
  const module = await import(alias);
  return [module.default ?? module, module];
}
