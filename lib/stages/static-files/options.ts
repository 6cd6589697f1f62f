/** Where an application's files lie, and below which path the ones of its front end's build are served. */
import { resolve } from "node:path";
import { decoded } from "../../routing/percent-encoding.js";
import { nameOf } from "../../di/token.js";
import { FrameworkError } from "../../errors/framework-error.js";

// From a request path to the path of a file below a root, on paper: whatever could mean another place than it says is refused here,
// before the file system is asked. Links, which only the file system knows of, are looked at in `static-library.ts`.

/** The one name with a dot in front that is served (RFC 8615). */
const WELL_KNOWN = ".well-known";

/** The decoded path, beginning with a slash; `undefined` for one that names no file. */
export function filePathOf(raw: string): string | undefined {
  if (raw.charCodeAt(0) !== 0x2f) return undefined;
  const names: string[] = [];
  for (const segment of raw.slice(1).split("/")) {
    const name = decoded(segment);
    if (name === undefined || !isFileName(name)) return undefined;
    // Only as a directory at the top; anywhere else it is hidden like all others.
    if (name.startsWith(".") && !(name === WELL_KNOWN && names.length === 0)) return undefined;
    names.push(name);
  }
  return names.length === 1 && names[0] === WELL_KNOWN ? undefined : `/${names.join("/")}`;
}

function isFileName(name: string): boolean {
  if (name === "" || name.includes("/") || name.includes("\\")) return false;
  // A drive, or a stream of another file.
  return process.platform !== "win32" || !name.includes(":");
}

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

/** Throws `E_STATIC_PREFIX` for a prefix that no file could be served below, `E_STATIC_ROOT` for an empty directory name, or none. */
export function staticSettings(options: StaticFilesOptions): StaticSettings {
  const { root = "public", prefix = "/build" } = options;
  const buildDirectory = options.buildDirectory ?? `${root}/build`;
  checkDirectory(root);
  checkDirectory(buildDirectory);
  return {
    root: resolve(root),
    buildDirectory: resolve(buildDirectory),
    prefix: checkedPrefix(prefix),
    manifest: resolve(options.manifest ?? `${buildDirectory}/.vite/manifest.json`),
  };
}

// JavaScript callers may pass anything for any of them.
function checkDirectory(name: unknown): void {
  if (typeof name === "string" && name !== "") return;
  const what = name === "" ? "the name of a directory is empty" : `${nameOf(name)} is no name of a directory`;
  throw new FrameworkError(`staticFiles: ${what}; write "." for the working directory`, { code: "E_STATIC_ROOT" });
}

function checkedPrefix(prefix: unknown): string {
  const asked = typeof prefix === "string" ? prefix.replace(/\/$/, "") : "";
  if (filePathOf(asked) === asked) return asked;
  throw new FrameworkError(`staticFiles: the prefix ${JSON.stringify(prefix)} is no path; write one like "/build"`, {
    code: "E_STATIC_PREFIX",
  });
}
