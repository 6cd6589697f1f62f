/**
 * What is known of one file: what identifies it, its validators, and, where it is small, its bytes. A record is as good as the
 * `stat` that it is compared with, which is made for every request; nothing is served on trust.
 */
import type { Stats } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";

/**
 * An HTTP date (RFC 9110 section 5.6.7) in whole seconds since the Unix epoch, in any of its three forms. Never throws: what is no
 * date is `undefined`, and a header without a date counts as absent.
 */
const IMF = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
const RFC_850 = /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/;
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

export function readHttpDate(text: string): number | undefined {
  if (IMF.test(text) || RFC_850.test(text)) return secondsOf(text);
  return ASCTIME.test(text) ? secondsOf(`${text} GMT`) : undefined;
}

export function writeHttpDate(seconds: number): string {
  return new Date(seconds * 1000).toUTCString();
}

function secondsOf(text: string): number | undefined {
  const milliseconds = Date.parse(text);
  return Number.isNaN(milliseconds) ? undefined : milliseconds / 1000;
}

/** The suffix of a precompressed sibling's ETag. */
export type Suffix = "" | "-br" | "-gz";

export class StaticFile implements Validators {
  readonly size: number;
  readonly mtimeMs: number;
  readonly etag: string;
  readonly modified: number;
  readonly lastModified: string;
  private readonly inode: number;
  private readonly device: number;
  private readonly ctimeMs: number;

  constructor(
    stats: Stats,
    readonly suffix: Suffix,
  ) {
    this.size = stats.size;
    this.inode = stats.ino;
    this.device = stats.dev;
    this.mtimeMs = stats.mtimeMs;
    this.ctimeMs = stats.ctimeMs;
    this.etag = `W/"${stats.size.toString(16)}-${Math.floor(stats.mtimeMs).toString(16)}${suffix}"`;
    this.modified = Math.floor(stats.mtimeMs / 1000);
    this.lastModified = writeHttpDate(this.modified);
  }

  /** Whether `stats` are of the same file in the same state. */
  isSame({ size, ino, dev, mtimeMs, ctimeMs }: Stats): boolean {
    return (
      mtimeMs === this.mtimeMs &&
      ctimeMs === this.ctimeMs &&
      size === this.size &&
      ino === this.inode &&
      dev === this.device
    );
  }

  /** Whether `stats` are of the same file, in whatever state: where a path leads is known of it. */
  isNode({ ino, dev }: Stats): boolean {
    return ino === this.inode && dev === this.device;
  }

  /**
   * Whether a change from now on is sure to show in the times: they advance in steps, so of a file that was changed just now a
   * second change may leave no trace.
   */
  isAtRest(now: number): boolean {
    return now - Math.max(this.mtimeMs, this.ctimeMs) > REST_MS;
  }
}

/** The coarsest step that file systems in use have. */
const REST_MS = 2000;

/**
 * Conditional requests for a file (RFC 9110 section 13): what the client has, or insists on, against what is there. The validators
 * are a weak ETag and a date in whole seconds, so `If-Match` with anything but `*` never holds. What cannot be read does not count.
 */
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
