/**
 * Content codings: those that `fetch` decodes, and the headers that describe the bytes in one coding and are wrong for the same content in
 * another one. `accept-encoding.ts` reads the codings that a client accepts.
 */
import zlib from "node:zlib";

/**
 * The content codings that Node's `fetch` decodes before a handler sees the body. It decodes all codings of a body, or none if it does not
 * know one of them. The headers do not change.
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

/** undici decodes zstd since 7.11, if Node's zlib does. Node 20 and 22 contain undici 6. */
function decodesZstd(): boolean {
  const [major = 0, minor = 0] = (process.versions["undici"] ?? "").split(".").map(Number);
  return "createZstdDecompress" in zlib && (major > 7 || (major === 7 && minor >= 11));
}

/**
 * The headers, in lower case, that describe the coded bytes: length, ranges, and the digests of RFC 9530 with their predecessors. A digest
 * of the representation covers its coded bytes, too (RFC 9530 section 3).
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
