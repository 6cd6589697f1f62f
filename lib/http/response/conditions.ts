/**
 * The conditions that a request makes about a representation (RFC 9110 section 13), its ranges (section 14), and dates in headers. Static
 * files, the downloads of a storage and the API document use them.
 */
import type { IncomingHttpHeaders } from "node:http";

/** The validators of a representation. */
export interface Validators {
  /** `"…"`, or `W/"…"` for a weak one. */
  readonly etag: string;
  /** The time of the last modification in whole seconds since the Unix epoch. */
  readonly modified: number;
  /** The same time as an HTTP date. */
  readonly lastModified: string;
}

/** A representation that is no file has no date. */
export type KnownValidators = Pick<Validators, "etag"> & Partial<Validators>;

/**
 * Returns the status that follows from the conditions of a request: 200 to send the file, 304 if the client has it, 412 if a precondition
 * fails. A condition that cannot be read is ignored.
 */
export function evaluateConditions(headers: IncomingHttpHeaders, file: KnownValidators): 200 | 304 | 412 {
  if (!meetsPreconditions(headers, file)) return 412;
  const known = headers["if-none-match"];
  if (known !== undefined) return isListed(known, file.etag) ? 304 : 200;
  const since = headers["if-modified-since"];
  return since !== undefined && isUnmodified(since, file) ? 304 : 200;
}

/** Whether the `If-Range` of a request holds: the client has a part of this state of the file. */
export function isRangeCurrent(headers: IncomingHttpHeaders, file: Validators): boolean {
  const condition = headers["if-range"];
  if (condition === undefined || condition === file.lastModified) return true;
  return condition === file.etag && isStrong(condition);
}

function meetsPreconditions(headers: IncomingHttpHeaders, { modified, etag }: KnownValidators): boolean {
  const match = headers["if-match"];
  if (match !== undefined) return match.trim() === "*" || (isStrong(etag) && isListed(match, etag, true));
  const unmodified = headers["if-unmodified-since"];
  const since = unmodified === undefined ? undefined : readHttpDate(unmodified);
  return since === undefined || modified === undefined || modified <= since;
}

function isUnmodified(since: string, { modified, lastModified }: KnownValidators): boolean {
  if (since === lastModified) return true;
  const date = readHttpDate(since);
  return date !== undefined && modified !== undefined && modified <= date;
}

function isStrong(etag: string): boolean {
  return etag.startsWith('"');
}

/** Weak or strong comparison with each tag of a list; `*` matches every tag (RFC 9110 section 8.8.3.2). */
function isListed(list: string, etag: string, isStrongly = false): boolean {
  if (list === etag || list.trim() === "*") return true;
  const opaque = etag.slice(etag.indexOf('"'));
  for (let open = list.indexOf('"'); open >= 0;) {
    const close = list.indexOf('"', open + 1);
    if (close < 0) return false;
    const isWeak = list.startsWith("W/", open - 2);
    if (list.slice(open, close + 1) === opaque && !(isStrongly && isWeak)) return true;
    open = list.indexOf('"', close + 1);
  }
  return false;
}

const IMF = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
const RFC_850 = /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/;
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/**
 * Reads an HTTP date in any of its three forms (RFC 9110 section 5.6.7), in whole seconds since the Unix epoch; `undefined` for other
 * texts.
 */
export function readHttpDate(text: string): number | undefined {
  if (IMF.test(text) || RFC_850.test(text)) return parseSeconds(text);
  return ASCTIME.test(text) ? parseSeconds(`${text} GMT`) : undefined;
}

/**
 * Returns the modification time of a file in whole seconds, for `Last-Modified`. It is never later than now, even if the clock of the
 * writer ran ahead (RFC 9110 section 8.8.2.1).
 */
export function toModifiedSeconds(timeMs: number, nowMs = Date.now()): number {
  return Math.floor(Math.min(timeMs, nowMs) / 1000);
}

export function formatHttpDate(seconds: number): string {
  return new Date(seconds * 1000).toUTCString();
}

function parseSeconds(text: string): number | undefined {
  const milliseconds = Date.parse(text);
  return Number.isNaN(milliseconds) ? undefined : milliseconds / 1000;
}

/** A part of a file, in bytes. */
export interface Section {
  readonly first: number;
  readonly length: number;
}

const ONE_RANGE = /^bytes=(\d*)-(\d*)$/i;

/**
 * Reads `Range` for a file (RFC 9110 section 14). Returns the requested section, or `undefined` for the whole file. Several ranges get the
 * whole file, because with them a small request could make the server send more than the file. A header that cannot be read gets the whole
 * file too.
 */
export function readRange(header: string | undefined, size: number): Section | "unsatisfiable" | undefined {
  const [, from, to] = ONE_RANGE.exec(header ?? "") ?? [];
  if (from === undefined || to === undefined || (from === "" && to === "")) return undefined;
  if (from === "") return selectLastBytes(Number(to), size);
  const first = Number(from);
  const last = to === "" ? Infinity : Number(to);
  if (last < first) return undefined;
  return first < size ? { first, length: Math.min(last, size - 1) - first + 1 } : "unsatisfiable";
}

function selectLastBytes(count: number, size: number): Section | "unsatisfiable" {
  if (count === 0 || size === 0) return "unsatisfiable";
  const length = Math.min(count, size);
  return { first: size - length, length };
}
