/** Media types: those that the framework writes, and the question whether a body is worth compressing. */

/** The media types that the framework itself writes. JSON never has a charset (RFC 8259 section 11). */
export const TEXT = "text/plain; charset=utf-8";
export const HTML = "text/html; charset=utf-8";
export const JSON_TYPE = "application/json";
export const BYTES = "application/octet-stream";

/**
 * The media types of texts, which are worth compressing, beside `text/*`. Not in the list: types that are compressed already, types that
 * must not be buffered (event streams, gRPC), and unknown types.
 */
const COMPRESSIBLE: ReadonlySet<string> = new Set([
  "application/ecmascript",
  "application/graphql",
  "application/javascript",
  "application/json",
  "application/jsonl",
  "application/ndjson",
  "application/rtf",
  "application/sql",
  "application/toml",
  "application/vnd.ms-fontobject",
  "application/wasm",
  "application/x-javascript",
  "application/x-ndjson",
  "application/x-sh",
  "application/x-www-form-urlencoded",
  "application/x-yaml",
  "application/xml",
  "application/yaml",
  "font/collection",
  "font/otf",
  "font/ttf",
  "image/svg+xml",
]);

const SUFFIXES = ["+json", "+xml", "+text", "+yaml", "+json-seq"] as const;

/** @param contentType the header's value, parameters and all */
export function isCompressible(contentType: string): boolean {
  const semicolon = contentType.indexOf(";");
  const type = (semicolon < 0 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase();
  if (COMPRESSIBLE.has(type)) return true;
  if (type.startsWith("text/")) return type !== "text/event-stream";
  if (!type.startsWith("application/") && !type.startsWith("model/")) return false;
  return !type.startsWith("application/grpc") && SUFFIXES.some((suffix) => type.endsWith(suffix));
}
