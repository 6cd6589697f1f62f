/**
 * Stage layer: serves the files of a directory for requests that no route matches. It supports conditional requests, ranges and
 * precompressed siblings (`app.js.br`). Caches may store files for a year that are named after their content. There are no listings and no
 * index files, and no file outside the directory is served.
 *
 * Not for files that users upload: these need a handler that decides who may read them, and with which media type.
 *
 * @example
 * builder.staticFiles({ root: "public" });
 */
import { pickCoding, readAcceptEncoding, type Acceptance } from "../../http/request/accept-encoding.js";
import { BoundedMemo } from "../../http/request/bounded-memo.js";
import { isGetOrHead } from "../../endpoints/method.js";
import type { Context } from "../../http/request/context.js";
import type { HeadCompleter } from "../../http/response/response-head.js";
import { StageLayer, type Run } from "../../http/middleware.js";
import { respondWithChangingFile, respondWithFile, type Representation } from "./file-response.js";
import type { StaticFile } from "./file.js";
import { readStaticSettings, type StaticFilesOptions } from "./options.js";
import { FileLocator, type FileLocation } from "./locator.js";

/** The maximum of attempts to open a file that changes between `stat` and `open`. Then it is sent in the state at its opening. */
const MAX_TRIES = 4;
/**
 * A cache may store a 404 without `Cache-Control` (RFC 9110 section 15.1). A file that was requested shortly before its deployment would
 * stay missing for the clients of the cache.
 */
const ABSENT: HeadCompleter = {
  complete({ raw }, head) {
    if (raw.statusCode === 404 && !head.has("Cache-Control")) head.set("Cache-Control", "no-store");
  },
};
const NO_CODING = readAcceptEncoding(undefined);

export class StaticFiles extends StageLayer {
  /** @internal */
  readonly root: string;
  private readonly locator: FileLocator;
  private readonly acceptances = new BoundedMemo(readAcceptEncoding);

  /**
   * Reads only the manifest, because the directory may be created later. A directory that is missing when serving starts is a WARN event.
   *
   * @throws FrameworkError `E_STATIC_ROOT`, `E_STATIC_PREFIX` or `E_STATIC_MANIFEST`
   */
  constructor(options: StaticFilesOptions = {}) {
    super();
    const settings = readStaticSettings(options);
    this.root = settings.root;
    this.locator = new FileLocator(settings);
  }

  /** Requests that name no file continue to the inner stages. */
  override wrap(inner: Run): Run {
    const pass: Run = (ctx) => {
      ctx.completeHeadWith(ABSENT);
      return inner(ctx);
    };
    return (ctx) => {
      const served = this.tryServe(ctx);
      if (typeof served === "boolean") return served ? undefined : pass(ctx);
      return served.then((isServed) => (isServed ? undefined : pass(ctx)));
    };
  }

  /** Serves the file if the path names one. Returns whether it did. */
  tryServe(ctx: Context): boolean | Promise<boolean> {
    const location = this.locator.locate(ctx.path);
    return location === undefined ? false : this.serve(ctx, location);
  }

  private async serve(ctx: Context, location: FileLocation): Promise<boolean> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const chosen = await this.choose(ctx, location);
      if (chosen === undefined) return false;
      if (ctx.isAbandoned || (await respondWithFile(ctx, location, chosen))) return true;
      if (!(await location.store.canOpen(chosen.path))) return false;
    }
    return this.serveChangingFile(ctx, location);
  }

  private async serveChangingFile(ctx: Context, location: FileLocation): Promise<boolean> {
    const chosen = await this.choose(ctx, location);
    if (chosen === undefined) return false;
    if (ctx.isAbandoned || (await respondWithChangingFile(ctx, location, chosen))) return true;
    throw new Error("a static file was replaced each time it was about to be sent");
  }

  private async choose({ incoming, clock }: Context, location: FileLocation): Promise<Representation | undefined> {
    const { store, path, isCompressible } = location;
    const acceptance = this.getAcceptance(incoming);
    const lookup = store.find(path, "", clock);
    if (acceptance.br === 0 && acceptance.gzip === 0) {
      const file = await lookup;
      return file && { file, path, coding: undefined, varies: isCompressible };
    }
    const [file, br, gzip] = await Promise.all([
      lookup,
      acceptance.br > 0 ? store.find(`${path}.br`, "-br", clock) : undefined,
      acceptance.gzip > 0 ? store.find(`${path}.gz`, "-gz", clock) : undefined,
    ]);
    return (
      file &&
      pickRepresentation(location, acceptance, {
        file,
        br: findCurrentSibling(br, file),
        gzip: findCurrentSibling(gzip, file),
      })
    );
  }

  private getAcceptance({ method, headers }: Context["incoming"]): Acceptance {
    const header = headers["accept-encoding"];
    // A range is always a range of the plain file, and only GET and HEAD have ranges.
    const isNegotiated = header !== undefined && headers.range === undefined && isGetOrHead(method);
    return isNegotiated ? this.acceptances.get(header) : NO_CODING;
  }
}

interface Candidates {
  readonly file: StaticFile;
  readonly br: StaticFile | undefined;
  readonly gzip: StaticFile | undefined;
}

function pickRepresentation(
  { path, isCompressible }: FileLocation,
  acceptance: Acceptance,
  { file, br, gzip }: Candidates,
): Representation {
  const coding = pickCoding(acceptance, { br: br !== undefined, gzip: gzip !== undefined });
  const varies = isCompressible || br !== undefined || gzip !== undefined;
  if (coding === "br" && br !== undefined) return { file: br, path: `${path}.br`, coding, varies };
  if (coding === "gzip" && gzip !== undefined) return { file: gzip, path: `${path}.gz`, coding, varies };
  return { file, path, coding: undefined, varies };
}

/** A sibling that is older than the file has the content of an older file. */
function findCurrentSibling(sibling: StaticFile | undefined, file: StaticFile): StaticFile | undefined {
  return sibling !== undefined && sibling.mtimeMs >= file.mtimeMs ? sibling : undefined;
}
