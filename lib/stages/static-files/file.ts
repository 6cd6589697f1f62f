/**
 * One state of a file: its identity on the disk and its validators, and the conditions that a request makes about them (RFC 9110
 * section 13). The state is compared with a new `stat` for every request, so an old state is never served.
 */
import type { Stats } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";

/** Precompressed siblings have a suffix in their ETag. */
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

  /** Whether `stats` belong to the same file in the same state. */
  isSame({ size, ino, dev, mtimeMs, ctimeMs }: Stats): boolean {
    return (
      mtimeMs === this.mtimeMs &&
      ctimeMs === this.ctimeMs &&
      size === this.size &&
      ino === this.inode &&
      dev === this.device
    );
  }

  /** Whether `stats` belong to the same file, in the same or another state. */
  isNode({ ino, dev }: Stats): boolean {
    return ino === this.inode && dev === this.device;
  }

  /**
   * Whether every later change will change the times too. File times advance in steps, so two changes within one step have the same
   * time.
   */
  isAtRest(now: number): boolean {
    return now - Math.max(this.mtimeMs, this.ctimeMs) > REST_MS;
  }
}

/** The largest step of the file times in common file systems. */
const REST_MS = 2000;

/** The validators of a file. The ETag is weak, so `If-Match` is true for `*` only. */
interface Validators {
  /** `W/"…"` */
  readonly etag: string;
  /** The time of the last modification in whole seconds since the Unix epoch. */
  readonly modified: number;
  /** The same time as an HTTP date. */
  readonly lastModified: string;
}

/**
 * The status that the conditions of a request lead to: 200 send the file, 304 the client has it, 412 a precondition fails. A condition
 * that cannot be read is ignored.
 */
export function evaluateConditions(headers: IncomingHttpHeaders, file: Validators): 200 | 304 | 412 {
  if (!meetsPreconditions(headers, file)) return 412;
  const known = headers["if-none-match"];
  if (known !== undefined) return isListed(known, file.etag) ? 304 : 200;
  const since = headers["if-modified-since"];
  return since !== undefined && isUnmodified(since, file) ? 304 : 200;
}

/** Whether the `If-Range` of a request holds: the client has a part of this state of the file. */
export function isRangeCurrent(headers: IncomingHttpHeaders, file: Validators): boolean {
  const condition = headers["if-range"];
  return condition === undefined || condition === file.lastModified;
}

function meetsPreconditions(headers: IncomingHttpHeaders, { modified }: Validators): boolean {
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

/** Weak comparison with each tag of a list; `*` matches every tag (RFC 9110 section 8.8.3.2). */
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

const IMF = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
const RFC_850 = /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/;
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/**
 * Reads an HTTP date in any of its three forms (RFC 9110 section 5.6.7), in whole seconds since the Unix epoch; `undefined` for other
 * texts.
 */
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
