/**
 * Maps the path of a request to the location of a file: the directory, the path below it, and the headers that follow from the name alone.
 * Locations are cached by path. A location does not mean that the file exists.
 *
 * Caches may store the files of a build for a year if they are named after their content: `<name>-<hash>.<extension>`. If Vite's manifest
 * exists, it must list the file too, because a name may contain a hash-like part by chance.
 */
import { readFileSync } from "node:fs";
import { basename, extname } from "node:path";
import type { FrameworkError } from "../../errors/framework-error.js";
import { BoundedMemo } from "../../http/request/bounded-memo.js";
import { isCompressible, BYTES } from "../../http/response/media-type.js";
import packages from "../../http/packages.cjs";
import { FileStore } from "./file-store.js";
import { findFilePath } from "./file-path.js";
import type { StaticSettings } from "./options.js";
import { createSetupError } from "../../errors/setup-error.js";

export interface FileLocation {
  readonly store: FileStore;
  /** The path below the directory of the store, with a leading slash. */
  readonly path: string;
  readonly contentType: string;
  readonly isCompressible: boolean;
  readonly cacheControl: string;
}

const NO_FILE = Symbol("no file");
/** The minimum length of a hash in a name. */
const MIN_HASH_LENGTH = 8;

export class FileLocator {
  private readonly root: FileStore;
  private readonly build: FileStore;
  private readonly buildPrefix: string;
  private readonly manifestFiles: ReadonlySet<string> | undefined;
  private readonly locations = new BoundedMemo<FileLocation | typeof NO_FILE>((path) => this.findLocation(path), 1024);

  constructor(settings: StaticSettings) {
    this.root = new FileStore(settings.root);
    this.build = new FileStore(settings.buildDirectory);
    this.buildPrefix = `${settings.prefix}/`;
    this.manifestFiles = readManifestFiles(settings.manifest);
  }

  /** `undefined` for a path that cannot name a file. */
  locate(rawPath: string): FileLocation | undefined {
    const location = this.locations.get(rawPath);
    return location === NO_FILE ? undefined : location;
  }

  private findLocation(rawPath: string): FileLocation | typeof NO_FILE {
    const path = findFilePath(rawPath);
    if (path === undefined) return NO_FILE;
    const isBuilt = path.startsWith(this.buildPrefix);
    const name = isBuilt ? path.slice(this.buildPrefix.length - 1) : path;
    const contentType = getContentType(name);
    const isImmutable = isBuilt && isHashedName(name) && (this.manifestFiles?.has(name.slice(1)) ?? true);
    return {
      store: isBuilt ? this.build : this.root,
      path: name,
      contentType,
      isCompressible: isCompressible(contentType),
      cacheControl: isImmutable ? "public, max-age=31536000, immutable" : "no-cache",
    };
  }
}

function getContentType(path: string): string {
  const type = packages.mediaTypeOf(path);
  if (type === false) return BYTES;
  return type.startsWith("text/") ? `${type}; charset=utf-8` : type;
}

/** Whether the name ends in `-`, a hash of at least 8 characters of `A-Z a-z 0-9 _ -`, and an extension. */
export function isHashedName(path: string): boolean {
  const extension = extname(path);
  if (extension.length < 2) return false;
  const stem = basename(path, extension);
  for (let at = stem.length - 1; at > 0; at--) {
    if (stem.charAt(at) === "-" && stem.length - 1 - at >= MIN_HASH_LENGTH) return true;
    if (!/[\w-]/.test(stem.charAt(at))) return false;
  }
  return false;
}

/**
 * The files that a manifest lists, relative to the build directory; `undefined` if there is no manifest.
 *
 * @throws FrameworkError `E_STATIC_MANIFEST` for a manifest that cannot be read
 */
export function readManifestFiles(path: string): ReadonlySet<string> | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    // The file does not exist: there is no build.
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw createManifestError(path, cause);
  }
  try {
    return new Set(Object.values(JSON.parse(text) as Readonly<Record<string, Chunk>>).flatMap(listChunkFiles));
  } catch (cause) {
    throw createManifestError(path, cause);
  }
}

/** The members of an entry of Vite's manifest that name files. */
interface Chunk {
  readonly file: string;
  readonly css?: readonly string[];
  readonly assets?: readonly string[];
}

function listChunkFiles({ file, css = [], assets = [] }: Chunk): string[] {
  const files = Array.isArray(css) && Array.isArray(assets) ? [file, ...css, ...assets] : [undefined];
  if (!files.every((each) => typeof each === "string"))
    throw new TypeError("an entry names a file that is not a string");
  return files;
}

function createManifestError(path: string, cause: unknown): FrameworkError {
  return createSetupError(
    "E_STATIC_MANIFEST",
    `staticFiles: the manifest ${path} cannot be read; build the front end again`,
    cause,
  );
}
