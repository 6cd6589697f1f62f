/**
 * The source of the front end: Vite's development server, or the build that its manifest describes. It is decided once, when the
 * application is built. Only a debug build uses the development server, and only if `FRAMEWORK_VITE_IPC` names it.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { FrameworkError } from "../../../errors/framework-error.js";
import type { Profile } from "../../../runtime/profile.js";
import { BuildTags, DevelopmentTags } from "./asset-tags.js";
import type { SourceOf } from "./build-files.js";
import { Manifest } from "./manifest.js";
import type { AssetTags } from "../protocol/page-writer.js";

export interface AssetOptions {
  /** The source that starts the front end: `pages/main.tsx`. */
  readonly entry: string;
  /** The directory of the build; `public/build` unless set. A relative path starts at the working directory of `build()`. */
  readonly buildDirectory?: string | undefined;
  /** The path below which the build is served; `/build` unless set. */
  readonly prefix?: string | undefined;
  /** Vite's manifest; `.vite/manifest.json` in the build directory unless set. */
  readonly manifest?: string | undefined;
  /** The source of a component: `pages/{component}.tsx`, or a function. Its styles and its script are then named in the document. */
  readonly source?: string | SourceOf | undefined;
  /** Whether React's components keep their state while they are edited; unless set, if the entry is a `.tsx` or `.jsx` file. */
  readonly reactRefresh?: boolean | undefined;
  /** The `base` of Vite's development server: `/build/`. Unless set, `/`. The development proxy sends all requests below it to Vite. */
  readonly viteBase?: string | undefined;
}

export interface AssetEnvironment {
  readonly profile: Profile;
  /** The value of `FRAMEWORK_VITE_IPC`. */
  readonly viteIpc: string | undefined;
}

export interface Assets {
  readonly tags: AssetTags;
  /** Logged when the application starts. */
  readonly warning: string | undefined;
}

/** The assets of an application without a front end, or of one whose build lacks the entry. */
export const NO_TAGS: AssetTags = Object.freeze({ version: null, tags: () => "", preloads: () => "" });

/** @throws FrameworkError `E_MANIFEST` for a malformed manifest, and in a release build for one that is missing or lacks the entry */
export function readAssets(options: AssetOptions, { profile, viteIpc = "" }: AssetEnvironment): Assets {
  const { entry, buildDirectory = "public/build", prefix = "/build" } = options;
  if (profile === "debug" && viteIpc.trim() !== "") return { tags: createDevelopmentTags(options), warning: undefined };
  const path = resolve(options.manifest ?? join(buildDirectory, ".vite/manifest.json"));
  const text = readOptional(path);
  if (text === undefined) return handleMissingBuild(options, path, profile);
  const manifest = Manifest.parse(text, path);
  const importMap = readImportMap(resolve(buildDirectory, "importmap.json"));
  const tags = new BuildTags({
    manifest,
    entry,
    prefix: prefix.replace(/\/$/, ""),
    findSource: toFindSource(options),
    importMap,
  });
  const isKnown = manifest.find(entry) !== undefined;
  if (isKnown) return { tags, warning: undefined };
  const warning = `the manifest ${path} has no entry ${JSON.stringify(entry)}: make it an input of vite.config, and run npx vite build`;
  if (profile === "release") throw new FrameworkError(warning, { code: "E_MANIFEST" });
  return { tags: { ...NO_TAGS, version: tags.version }, warning };
}

function handleMissingBuild(options: AssetOptions, path: string, profile: Profile): Assets {
  const warning = `there is no manifest ${path}: run npx vite build, or Vite itself with FRAMEWORK_VITE_IPC`;
  if (profile === "release") throw new FrameworkError(warning, { code: "E_MANIFEST" });
  return { tags: createDevelopmentTags(options), warning };
}

function createDevelopmentTags({
  entry,
  reactRefresh = /\.[jt]sx$/.test(entry),
  viteBase: base = "/",
}: AssetOptions): DevelopmentTags {
  return new DevelopmentTags({ entry, reactRefresh, base });
}

function toFindSource({ source }: AssetOptions): SourceOf {
  if (typeof source === "string") return (component) => source.replaceAll("{component}", () => component);
  return source ?? (() => undefined);
}

/** `undefined` if the file does not exist. @throws FrameworkError `E_MANIFEST` for a file that cannot be read */
function readOptional(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new FrameworkError(`${path} cannot be read: ${String(code)}; let the user of the process read it`, {
      code: "E_MANIFEST",
      cause: error,
    });
  }
}

/** Vite's map of hashed chunks (`build.chunkImportMap`). The document must have it before any module. */
function readImportMap(path: string): string | undefined {
  const text = readOptional(path);
  if (text === undefined) return undefined;
  try {
    return JSON.stringify(JSON.parse(text));
  } catch (error) {
    throw new FrameworkError(`${path} is not an import map: it is not JSON; build the front end again`, {
      code: "E_MANIFEST",
      cause: error,
    });
  }
}
