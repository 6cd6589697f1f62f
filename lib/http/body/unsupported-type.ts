/**
 * Creates the error for a body whose media type, charset or coding is not supported. The log names the received header; the response does
 * not.
 */
import { UnsupportedMediaTypeError } from "../../errors/framework-error.js";
import { tracing } from "../../tracing/tracing.js";

const log = tracing.target("framework::http::body");
const MAX_SHOWN = 200;

/** The words of headers that clients send by mistake. All other words are replaced in the log, because a client may send any text. */
const KNOWN: ReadonlySet<string> = new Set(
  `application text multipart image audio video json x-www-form-urlencoded form-data mixed plain html xml csv javascript octet-stream pdf png
  jpeg problem+json ld+json vnd.api+json graphql charset boundary utf-8 utf-16 us-ascii iso-8859-1 latin1 windows-1252 gzip x-gzip deflate
  br zstd compress base64 quoted-printable`.split(/\s+/),
);

/**
 * @param actual the value of the header; `undefined` for a request without it
 * @param expected the value that the reader supports
 * @param detail for the client
 */
export function createUnsupportedTypeError(
  actual: string | undefined,
  expected: string,
  detail: string,
): UnsupportedMediaTypeError {
  log.debug("body refused with 415", { came: actual === undefined ? "no header" : redactHeader(actual), expected });
  return new UnsupportedMediaTypeError(detail);
}

function redactHeader(header: string): string {
  const words = header.slice(0, MAX_SHOWN).toLowerCase();
  return words.replaceAll(/[^\s;,=/"]+/g, (word) => (KNOWN.has(word) ? word : "…"));
}
