/**
 * Conditional requests for a file (RFC 9110 section 13): what the client has, or insists on, against what is there. The validators
 * are a weak ETag and a date in whole seconds, so `If-Match` with anything but `*` never holds. What cannot be read does not count.
 */
import type { IncomingHttpHeaders } from "node:http";
import { readHttpDate } from "./static-date.js";

export interface Validators {
  /** `W/"…"` */
  readonly etag: string;
  /** The modification in whole seconds since the Unix epoch. */
  readonly modified: number;
  /** The same as a header. */
  readonly lastModified: string;
}

/** 200: send it; 304: the client has it; 412: it is not what the client insists on. */
export function evaluateConditions(headers: IncomingHttpHeaders, file: Validators): 200 | 304 | 412 {
  if (!isAsInsisted(headers, file)) return 412;
  const known = headers["if-none-match"];
  if (known !== undefined) return isListed(known, file.etag) ? 304 : 200;
  const since = headers["if-modified-since"];
  return since !== undefined && isUnmodified(since, file) ? 304 : 200;
}

/** Whether a `Range` still means the file that the client has a part of. */
export function isRangeCurrent(headers: IncomingHttpHeaders, file: Validators): boolean {
  const condition = headers["if-range"];
  return condition === undefined || condition === file.lastModified;
}

function isAsInsisted(headers: IncomingHttpHeaders, { modified }: Validators): boolean {
  const match = headers["if-match"];
  if (match !== undefined) return match.trim() === "*";
  const unmodified = headers["if-unmodified-since"];
  const since = unmodified === undefined ? undefined : readHttpDate(unmodified);
  return since === undefined || modified <= since;
}

function isUnmodified(since: string, { modified, lastModified }: Validators): boolean {
  if (since === lastModified) return true;
  const date = readHttpDate(since);
  return date !== undefined && modified <= date;
}

/** Weak comparison with each tag of a list; a star is any. */
function isListed(list: string, etag: string): boolean {
  if (list === etag || list.trim() === "*") return true;
  const opaque = etag.slice(etag.indexOf('"'));
  for (let open = list.indexOf('"'); open >= 0;) {
    const close = list.indexOf('"', open + 1);
    if (close < 0) return false;
    if (list.slice(open, close + 1) === opaque) return true;
    open = list.indexOf('"', close + 1);
  }
  return false;
}
