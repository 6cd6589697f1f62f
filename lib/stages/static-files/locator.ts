/**
 * From a request path to the place of a file: which directory, under which name, and what follows from the name alone. Worked out
 * once a path; whether there is such a file is another question.
 */
import { readFileSync } from "node:fs";
import { basename, extname } from "node:path";
import { lookup } from "mime-types";
import { FrameworkError } from "../../errors/framework-error.js";
import { BoundedMemo } from "../../http/bounded-memo.js";
import { isCompressible, BYTES } from "../../http/media-type.js";
import { FileStore } from "./file-store.js";
import { type StaticSettings, filePathOf } from "./options.js";

/**
 * Which files of a build may be kept by caches for good: those named after their content, `<name>-<hash>.<extension>`. Where Vite's
 * manifest is there, a file must also be listed in it, so that a name that only looks like one is not frozen for a year.
 */
const MIN_HASH = 8;

/** Whether the name ends in `-`, at least 8 of `A-Z a-z 0-9 _ -`, and an extension. */
export function isHashedName(path: string): boolean {
  const extension = extname(path);
  if (extension.length < 2) return false;
  const stem = basename(path, extension);
  for (let at = stem.length - 1; at > 0; at--) {
    if (stem.charAt(at) === "-" && stem.length - 1 - at >= MIN_HASH) return true;
    if (!/[\w-]/.test(stem.charAt(at))) return false;
  }
  return false;
}

/**
 * The files that a manifest lists, relative to the build directory; `undefined` where there is no manifest. Throws
 * `E_STATIC_MANIFEST` for one that cannot be read.
 */
export function filesOfManifest(path: string): ReadonlySet<string> | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    // The one error that says that nobody has built a front end.
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw malformed(path, cause);
  }
  try {
    return new Set(Object.values(JSON.parse(text) as Readonly<Record<string, Chunk>>).flatMap(filesOfChunk));
  } catch (cause) {
    throw malformed(path, cause);
  }
}

/** An entry of Vite's manifest, as far as it names files. */
interface Chunk {
  readonly file: string;
  readonly css?: readonly string[];
  readonly assets?: readonly string[];
}

function filesOfChunk({ file, css = [], assets = [] }: Chunk): string[] {
  const files = Array.isArray(css) && Array.isArray(assets) ? [file, ...css, ...assets] : [undefined];
  if (!files.every((each) => typeof each === "string")) throw new TypeError("an entry names a file that is no text");
  return files;
}

function malformed(path: string, cause: unknown): FrameworkError {
  return new FrameworkError(`staticFiles: the manifest ${path} cannot be read; build the front end again`, {
    code: "E_STATIC_MANIFEST",
    cause,
  });
}

export interface FileLocation {
  readonly store: FileStore;
  /** Below the library's directory, with a slash in front. */
  readonly path: string;
  readonly contentType: string;
  readonly isCompressible: boolean;
  readonly cacheControl: string;
}

const NO_FILE = Symbol("nowhere");

export class FileLocator {
  private readonly root: FileStore;
  private readonly build: FileStore;
  private readonly buildPrefix: string;
  private readonly manifestFiles: ReadonlySet<string> | undefined;
  private readonly locations = new BoundedMemo<FileLocation | typeof NO_FILE>((path) => this.look(path), 1024);

  constructor(settings: StaticSettings) {
    this.root = new FileStore(settings.root);
    this.build = new FileStore(settings.buildDirectory);
    this.buildPrefix = `${settings.prefix}/`;
    this.manifestFiles = filesOfManifest(settings.manifest);
  }

  /** `undefined` where no file can be. */
  locate(rawPath: string): FileLocation | undefined {
    const place = this.locations.of(rawPath);
    return place === NO_FILE ? undefined : place;
  }

  private look(rawPath: string): FileLocation | typeof NO_FILE {
    const path = filePathOf(rawPath);
    if (path === undefined) return NO_FILE;
    const isBuilt = path.startsWith(this.buildPrefix);
    const name = isBuilt ? path.slice(this.buildPrefix.length - 1) : path;
    const contentType = typeOf(name);
    const isForGood = isBuilt && isHashedName(name) && (this.manifestFiles?.has(name.slice(1)) ?? true);
    return {
      store: isBuilt ? this.build : this.root,
      path: name,
      contentType,
      isCompressible: isCompressible(contentType),
      cacheControl: isForGood ? "public, max-age=31536000, immutable" : "no-cache",
    };
  }
}

function typeOf(path: string): string {
  const type = lookup(path);
  if (type === false) return BYTES;
  return type.startsWith("text/") ? `${type}; charset=utf-8` : type;
}
