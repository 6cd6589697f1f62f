/**
 * Which content codings Node's `fetch` has undone before a handler sees the body. It takes all of them off or, where it does not know
 * one, none, and the headers stay what they were.
 */
import zlib from "node:zlib";

const UNDONE: ReadonlySet<string> = new Set(["gzip", "x-gzip", "deflate", "br", ...(undoesZstd() ? ["zstd"] : [])]);

/** @param field the value of `Content-Encoding` */
export function isUndoneByFetch(field: string): boolean {
  return field
    .toLowerCase()
    .split(",")
    .every((coding) => UNDONE.has(coding.trim()));
}

/** undici does since 7.11, where Node's zlib can; Node 20 and 22 come with undici 6. */
function undoesZstd(): boolean {
  const [major = 0, minor = 0] = (process.versions["undici"] ?? "").split(".").map(Number);
  return "createZstdDecompress" in zlib && (major > 7 || (major === 7 && minor >= 11));
}
