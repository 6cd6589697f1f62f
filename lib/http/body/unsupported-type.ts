/** The refusal of a body whose media type, charset or coding is not read. The log says what came, which the client is not told. */
import { UnsupportedMediaTypeError } from "../../errors/framework-error.js";
import { tracing } from "../../tracing/tracing.js";

const log = tracing.target("framework::http::body");
const MAX_SHOWN = 200;

/** The words of the headers that clients send by mistake. A client may write anything there, and other words do not come into the log. */
const KNOWN: ReadonlySet<string> = new Set(
  `application text multipart image audio video json x-www-form-urlencoded form-data mixed plain html xml csv javascript octet-stream pdf png
  jpeg problem+json ld+json vnd.api+json graphql charset boundary utf-8 utf-16 us-ascii iso-8859-1 latin1 windows-1252 gzip x-gzip deflate
  br zstd compress base64 quoted-printable`.split(/\s+/),
);

/**
 * @param actual the value of the header; `undefined` where the request has none
 * @param expected what the reader takes
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
