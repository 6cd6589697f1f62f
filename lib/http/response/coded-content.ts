/**
 * Content codings: which of them `fetch` undoes, and which headers describe the bytes in one coding, so that they are wrong for the same
 * content in another one. Not for what a client accepts: accept-encoding.ts.
 */
import zlib from "node:zlib";

/**
 * The content codings that Node's `fetch` decodes before a handler sees the body. It decodes all codings of a body, or none if it does not
 * know one of them. The headers stay as they were.
 */
const DECODED_BY_FETCH: ReadonlySet<string> = new Set([
  "gzip",
  "x-gzip",
  "deflate",
  "br",
  ...(decodesZstd() ? ["zstd"] : []),
]);

/** @param field the value of `Content-Encoding` */
export function isDecodedByFetch(field: string): boolean {
  return field
    .toLowerCase()
    .split(",")
    .every((coding) => DECODED_BY_FETCH.has(coding.trim()));
}

/** undici decodes it since 7.11, if Node's zlib can. Node 20 and 22 hold undici 6. */
function decodesZstd(): boolean {
  const [major = 0, minor = 0] = (process.versions["undici"] ?? "").split(".").map(Number);
  return "createZstdDecompress" in zlib && (major > 7 || (major === 7 && minor >= 11));
}

/**
 * The headers, in lower case, that hold for the coded bytes alone: length, ranges, and the digests of RFC 9530 with their forerunners. A
 * digest of the representation is one of its coded bytes, too (RFC 9530 section 3).
 */
export const CODED_BYTES_HEADERS: ReadonlySet<string> = new Set([
  "accept-ranges",
  "content-digest",
  "content-encoding",
  "content-length",
  "content-md5",
  "digest",
  "repr-digest",
]);

/** A strong tag identifies the bytes in one coding; a weak one stays (RFC 9110 section 8.8.3.3). */
export function toWeakTag(tag: string): string {
  return tag.startsWith("W/") ? tag : `W/${tag}`;
}
