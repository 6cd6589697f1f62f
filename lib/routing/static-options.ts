/** Where an application's files lie, and below which path the ones of its front end's build are served. */
import { resolve } from "node:path";
import { FrameworkError } from "../kernel/errors.js";
import { staticPath } from "./static-path.js";

export interface StaticFilesOptions {
  /** The directory that is served; `public` unless set. Relative to the working directory when the application is built. */
  readonly root?: string;
  /** Where the build of the front end lies; `build` in the root unless set. */
  readonly buildDirectory?: string;
  /** The path below which the build is served; `/build` unless set. */
  readonly prefix?: string;
  /** Vite's manifest; `.vite/manifest.json` in the build directory unless set. It may be missing. */
  readonly manifest?: string;
}

export interface StaticSettings {
  readonly root: string;
  readonly buildDirectory: string;
  /** With one slash in front and none at the end. */
  readonly prefix: string;
  readonly manifest: string;
}

/** Throws `E_STATIC_PREFIX` for a prefix that no file could be served below, `E_STATIC_ROOT` for an empty directory name. */
export function staticSettings(options: StaticFilesOptions): StaticSettings {
  const { root = "public", prefix = "/build" } = options;
  const buildDirectory = options.buildDirectory ?? `${root}/build`;
  if (root === "" || buildDirectory === "") {
    throw new FrameworkError('staticFiles: the name of a directory is empty; write "." for the working directory', {
      code: "E_STATIC_ROOT",
    });
  }
  return {
    root: resolve(root),
    buildDirectory: resolve(buildDirectory),
    prefix: checkedPrefix(prefix),
    manifest: resolve(options.manifest ?? `${buildDirectory}/.vite/manifest.json`),
  };
}

function checkedPrefix(prefix: string): string {
  const path = staticPath(prefix.endsWith("/") ? prefix.slice(0, -1) : prefix);
  if (path !== undefined && path === prefix.replace(/\/$/, "")) return path;
  throw new FrameworkError(`staticFiles: the prefix ${JSON.stringify(prefix)} is no path; write one like "/build"`, {
    code: "E_STATIC_PREFIX",
  });
}
