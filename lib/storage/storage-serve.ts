/**
 * Serves the URLs of a storage. A private file needs a signature; a public one needs none. A PUT always needs one, and must have the type
 * and the size that were signed.
 */
import { ForbiddenError } from "../errors/framework-error.js";
import { formatContentDisposition } from "../http/response/content-disposition.js";
import type { Context } from "../http/request/context.js";
import { Reply } from "../http/response/reply.js";
import { type DownloadSource, createDownloadReply } from "./storage-download.js";
import { StoredFileMissingError } from "./storage-errors.js";
import type { ServedUrls, SignedTerms, StoredFile } from "./storage-files.js";

interface ServedStorage extends DownloadSource {
  put(
    key: string,
    content: AsyncIterable<unknown>,
    options: { readonly type: string; readonly size: number },
  ): Promise<StoredFile>;
}

/** Types that a browser shows without running anything. A type has no case (RFC 9110 section 8.3.1). */
const SHOWN = /^(?:image\/(?!svg)|audio\/|video\/|text\/plain(?:[ \t]*;|$))/i;

export async function serveUrl(
  storage: ServedStorage,
  urls: ServedUrls,
  ctx: Context<"key">,
  now: number,
): Promise<Reply> {
  const { key } = ctx.params;
  const terms = urls.verify(ctx.method, ctx.url, now);
  if (ctx.method === "PUT") return receive(storage, key, terms, ctx);
  if (terms !== undefined)
    return createDownloadReply(storage, key, terms.disposition ?? formatContentDisposition(), ctx.incoming);
  const file = await storage.stat(key);
  // The response is the same for a private file and a missing one.
  if (file?.visibility !== "public") throw new StoredFileMissingError();
  return createDownloadReply(storage, key, formatContentDisposition(undefined, SHOWN.test(file.type)), ctx.incoming);
}

async function receive(
  storage: ServedStorage,
  key: string,
  terms: SignedTerms | undefined,
  ctx: Context<"key">,
): Promise<Reply> {
  const { headers } = ctx.incoming;
  const { type, size } = terms ?? {};
  if (type === undefined || size === undefined) throw notSigned();
  if (headers["content-type"] !== type || headers["content-length"] !== String(size)) throw notSigned();
  const { etag } = await storage.put(key, ctx.req, { type, size });
  return Reply.noContent().header("ETag", etag);
}

function notSigned(): ForbiddenError {
  return new ForbiddenError("The upload needs a signature for its type and its size.", {
    code: "E_STORAGE_SIGNED_UPLOAD",
  });
}
