/**
 * From a request path to the place of a file: which directory, under which name, and what follows from the name alone. Worked out
 * once a path; whether there is such a file is another question.
 */
import { lookup } from "mime-types";
import { BoundedMemo } from "../http/bounded-memo.js";
import { isCompressible, BYTES } from "../http/media-type.js";
import { filesOfManifest, isHashedName } from "./static-hashed-name.js";
import { StaticLibrary } from "./static-library.js";
import type { StaticSettings } from "./static-options.js";
import { staticPath } from "./static-path.js";

export interface Place {
  readonly library: StaticLibrary;
  /** Below the library's directory, with a slash in front. */
  readonly path: string;
  readonly contentType: string;
  readonly isCompressible: boolean;
  readonly cacheControl: string;
}

const NOWHERE = Symbol("nowhere");

export class StaticShelf {
  private readonly root: StaticLibrary;
  private readonly build: StaticLibrary;
  private readonly below: string;
  private readonly listed: ReadonlySet<string> | undefined;
  private readonly places = new BoundedMemo<Place | typeof NOWHERE>((path) => this.look(path), 1024);

  constructor(settings: StaticSettings) {
    this.root = new StaticLibrary(settings.root);
    this.build = new StaticLibrary(settings.buildDirectory);
    this.below = `${settings.prefix}/`;
    this.listed = filesOfManifest(settings.manifest);
  }

  /** `undefined` where no file can be. */
  placeOf(rawPath: string): Place | undefined {
    const place = this.places.of(rawPath);
    return place === NOWHERE ? undefined : place;
  }

  private look(rawPath: string): Place | typeof NOWHERE {
    const path = staticPath(rawPath);
    if (path === undefined) return NOWHERE;
    const isBuilt = path.startsWith(this.below);
    const name = isBuilt ? path.slice(this.below.length - 1) : path;
    const contentType = typeOf(name);
    const isForGood = isBuilt && isHashedName(name) && (this.listed?.has(name.slice(1)) ?? true);
    return {
      library: isBuilt ? this.build : this.root,
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
