/**
 * The options of the static files: the directory that is served, the build of the front end, and the path below which the build is
 * served. They are checked once, when the application is built.
 */
import { resolve } from "node:path";
import { describeToken } from "../../di/token.js";
import { findFilePath } from "./file-path.js";
import { createSetupError } from "../../errors/setup-error.js";

export interface StaticFilesOptions {
  /** The directory that is served; `public` unless set. A relative path starts at the working directory of `build()`. */
  readonly root?: string;
  /** The directory of the front end's build; `build` in the root unless set. */
  readonly buildDirectory?: string;
  /** The path below which the build is served; `/build` unless set. */
  readonly prefix?: string;
  /** Vite's manifest; `.vite/manifest.json` in the build directory unless set. It may be missing. */
  readonly manifest?: string;
}

export interface StaticSettings {
  readonly root: string;
  readonly buildDirectory: string;
  /** With a leading slash and without a trailing one. */
  readonly prefix: string;
  readonly manifest: string;
}

/**
 * @throws FrameworkError `E_STATIC_PREFIX` for a prefix that is not the path of a directory; `E_STATIC_ROOT` for a directory name that
 * is empty or not a string
 */
export function readStaticSettings(options: StaticFilesOptions): StaticSettings {
  const { root = "public", prefix = "/build" } = options;
  const buildDirectory = options.buildDirectory ?? `${root}/build`;
  checkDirectory(root);
  checkDirectory(buildDirectory);
  return {
    root: resolve(root),
    buildDirectory: resolve(buildDirectory),
    prefix: checkPrefix(prefix),
    manifest: resolve(options.manifest ?? `${buildDirectory}/.vite/manifest.json`),
  };
}

// JavaScript callers may pass any value.
function checkDirectory(name: unknown): void {
  if (typeof name === "string" && name !== "") return;
  const fault =
    name === "" ? "the name of a directory is empty" : `${describeToken(name)} is not the name of a directory`;
  throw createSetupError("E_STATIC_ROOT", `staticFiles: ${fault}; write "." for the working directory`);
}

function checkPrefix(prefix: unknown): string {
  const path = typeof prefix === "string" ? prefix.replace(/\/$/, "") : "";
  if (findFilePath(path) === path) return path;
  throw createSetupError(
    "E_STATIC_PREFIX",
    `staticFiles: the prefix ${JSON.stringify(prefix)} is not a path; write one like "/build"`,
  );
}
