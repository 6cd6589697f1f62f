/**
 * The files of a directory, for what no route matches: conditional requests, ranges, precompressed siblings, and a year in every
 * cache for files named after their content. No listings, no index files, nothing outside the directory.
 *
 * Not for files that users upload: those need a handler that decides who may have them, and under which type.
 *
 * @example
 * builder.staticFiles({ root: "public" });
 */
import { pickCoding, readAcceptEncoding, type Acceptance } from "../../http/accept-encoding.js";
import { BoundedMemo } from "../../http/bounded-memo.js";
import type { Context } from "../../http/context.js";
import type { HeadCompleter } from "../../http/head.js";
import { Layer, type Run } from "../../http/middleware.js";
import { answerChangingFile, answerFile, type Representation } from "./answer.js";
import type { StaticFile } from "./file.js";
import { staticSettings, type StaticFilesOptions } from "./options.js";
import { StaticShelf, type Place } from "./locator.js";

/** How often a file is looked for and found changed when it is opened, before it is taken as it is. */
const TRIES = 4;
/**
 * A cache may keep a 404 that says nothing of it (RFC 9110 section 15.1): a file that was asked for a moment before it was deployed
 * would stay away.
 */
const ABSENT: HeadCompleter = {
  complete({ raw }, head) {
    if (raw.statusCode === 404 && !head.has("Cache-Control")) head.set("Cache-Control", "no-store");
  },
};
const NO_CODING = readAcceptEncoding(undefined);

export class StaticFiles extends Layer {
  /** @internal */
  readonly root: string;
  private readonly shelf: StaticShelf;
  private readonly acceptances = new BoundedMemo(readAcceptEncoding);

  /**
   * Throws `E_STATIC_ROOT`, `E_STATIC_PREFIX` or `E_STATIC_MANIFEST`. Reads the manifest, and nothing else: the directory may be made
   * later. One that is not there when serving begins is a WARN event.
   */
  constructor(options: StaticFilesOptions = {}) {
    super();
    const settings = staticSettings(options);
    this.root = settings.root;
    this.shelf = new StaticShelf(settings);
  }

  /** What is no file goes on inwards. */
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

  /** Whether there is such a file; if so, the request is answered. */
  tryServe(ctx: Context): boolean | Promise<boolean> {
    const place = this.shelf.placeOf(ctx.path);
    return place === undefined ? false : this.serve(ctx, place);
  }

  private async serve(ctx: Context, place: Place): Promise<boolean> {
    for (let tries = 0; tries < TRIES; tries++) {
      const chosen = await this.choose(ctx, place);
      if (chosen === undefined) return false;
      if (ctx.isAbandoned || (await answerFile(ctx, place, chosen))) return true;
      if (!(await place.library.canOpen(chosen.path))) return false;
    }
    return this.serveAsItIs(ctx, place);
  }

  private async serveAsItIs(ctx: Context, place: Place): Promise<boolean> {
    const chosen = await this.choose(ctx, place);
    if (chosen === undefined) return false;
    if (ctx.isAbandoned || (await answerChangingFile(ctx, place, chosen))) return true;
    throw new Error("a static file was replaced each time it was about to be sent");
  }

  private async choose({ incoming, clock }: Context, place: Place): Promise<Representation | undefined> {
    const { library, path, isCompressible } = place;
    const acceptance = this.acceptanceOf(incoming);
    const finding = library.find(path, "", clock);
    if (acceptance.br === 0 && acceptance.gzip === 0) {
      const file = await finding;
      return file && { file, path, coding: undefined, varies: isCompressible };
    }
    const [file, br, gzip] = await Promise.all([
      finding,
      acceptance.br > 0 ? library.find(`${path}.br`, "-br", clock) : undefined,
      acceptance.gzip > 0 ? library.find(`${path}.gz`, "-gz", clock) : undefined,
    ]);
    return file && best(place, acceptance, { file, br: upToDate(br, file), gzip: upToDate(gzip, file) });
  }

  private acceptanceOf({ method, headers }: Context["incoming"]): Acceptance {
    const header = headers["accept-encoding"];
    // A range is always one of the plain file, and only GET and HEAD get any.
    const isNegotiated = header !== undefined && headers.range === undefined && (method === "GET" || method === "HEAD");
    return isNegotiated ? this.acceptances.of(header) : NO_CODING;
  }
}

interface Candidates {
  readonly file: StaticFile;
  readonly br: StaticFile | undefined;
  readonly gzip: StaticFile | undefined;
}

function best({ path, isCompressible }: Place, acceptance: Acceptance, { file, br, gzip }: Candidates): Representation {
  const coding = pickCoding(acceptance, { br: br !== undefined, gzip: gzip !== undefined });
  const varies = isCompressible || br !== undefined || gzip !== undefined;
  if (coding === "br" && br !== undefined) return { file: br, path: `${path}.br`, coding, varies };
  if (coding === "gzip" && gzip !== undefined) return { file: gzip, path: `${path}.gz`, coding, varies };
  return { file, path, coding: undefined, varies };
}

/** A sibling that is older than the file holds something else. */
function upToDate(sibling: StaticFile | undefined, file: StaticFile): StaticFile | undefined {
  return sibling !== undefined && sibling.mtimeMs >= file.mtimeMs ? sibling : undefined;
}
