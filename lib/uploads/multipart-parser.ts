/**
 * The parser of a form, from the package `busboy`, with each of its limits set one above ours. At its limit the parser cuts or drops
 * without an error, so a value that reaches it is above our limit. The boundary is checked here, and passed to the parser in one form.
 */
import type { IncomingHttpHeaders } from "node:http";
import { finished, Writable } from "node:stream";
import type { Busboy, BusboyConfig } from "busboy";
import { BadRequestError } from "../errors/framework-error.js";
import { expectPeer, requirePeer } from "../errors/optional-package.js";
import { createCodedBodyError } from "../http/body/collected-body.js";
import { createUnsupportedTypeError } from "../http/body/unsupported-type.js";
import type { CompleteUploadLimits } from "./upload-limits.js";

const PEER = { entry: "@stagecraft/framework/uploads", name: "busboy", from: "1.6.0", install: "busboy" };

expectPeer(PEER);
const busboy = requirePeer(PEER) as (config: BusboyConfig) => Busboy; // The version is checked.

const EXPECTED = "multipart/form-data, or application/json for a form without a file";
const TYPE = /^multipart\/form-data\s*(?:;|$)/i;
/** 1 to 70 characters, not ending with a space (RFC 2046 section 5.1.1). */
const BOUNDARY = /;\s*boundary=(?:"([\w'()+,./:=? -]{0,69}[\w'()+,./:=?-])"|([\w'+.-]{1,70}))\s*(?:;|$)/i;
const MAX_NAME_BYTES = 400;

const DASH = 0x2d;

/** Counts the boundaries of a body, the last one included, which ends with two dashes. What follows it is no part of the form. */
class BoundaryCounter {
  count = 0;
  private hasEnded = false;
  private readonly boundary: Buffer;
  /** The end of the bytes so far, in which a boundary may have begun. The first boundary has no line before it. */
  private rest = Buffer.from("\r\n");

  constructor(boundary: string) {
    this.boundary = Buffer.from(`\r\n--${boundary}`);
  }

  push(chunk: Buffer): void {
    // A boundary counts with the two bytes after it.
    const overlap = this.boundary.length + 1;
    const edge = Buffer.concat([this.rest, chunk.subarray(0, overlap)]);
    this.search(edge);
    this.search(chunk);
    this.rest = Buffer.from((chunk.length < overlap ? edge : chunk).subarray(-overlap));
  }

  private search(bytes: Buffer): void {
    const { boundary } = this;
    for (let at = bytes.indexOf(boundary); at >= 0 && !this.hasEnded; at = bytes.indexOf(boundary, at + 1)) {
      const end = at + boundary.length;
      if (end + 2 > bytes.length) return;
      this.count += 1;
      this.hasEnded = bytes[end] === DASH && bytes[end + 1] === DASH;
    }
  }
}

/**
 * Feeds the parser. The parser throws if it is destroyed inside one of its events, for example at a limit. An exception inside a stream's
 * event would end the process. So the parser is destroyed later, and its exception becomes an error of this stream.
 */
export class ParserFeed extends Writable {
  /** The parts of the body, those included that the parser drops without an event. 0 until the body has ended. */
  parts = 0;
  private readonly boundaries: BoundaryCounter;

  constructor(
    private readonly parser: Busboy,
    boundary: string,
  ) {
    super();
    this.boundaries = new BoundaryCounter(boundary);
    parser.on("error", (error: Error) => process.nextTick(() => this.destroy(error)));
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    this.boundaries.push(chunk);
    try {
      if (this.parser.write(chunk)) done();
      else this.parser.once("drain", done);
    } catch (error) {
      done(error instanceof Error ? error : new Error("the parser failed"));
    }
  }

  override _final(done: (error?: Error | null) => void): void {
    // The last boundary ends the last part.
    this.parts = this.boundaries.count - 1;
    finished(this.parser, { readable: false }, done);
    this.parser.end();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.parser.destroy(error ?? undefined);
    done(error);
  }
}

/** @throws UnsupportedMediaTypeError for another media type or a coded body; BadRequestError `E_UPLOAD_MALFORMED` for the boundary */
export function parseBoundary(headers: IncomingHttpHeaders): string {
  const type = headers["content-type"] ?? "";
  const coding = (headers["content-encoding"] ?? "identity").trim().toLowerCase();
  if (!TYPE.test(type)) throw createUnsupportedTypeError(headers["content-type"], EXPECTED, `Expected ${EXPECTED}.`);
  if (coding !== "identity") throw createCodedBodyError(coding);
  const [, quoted, boundary = quoted] = BOUNDARY.exec(type) ?? [];
  if (boundary === undefined) {
    throw new BadRequestError("The multipart form is malformed: its Content-Type has no valid boundary.", {
      code: "E_UPLOAD_MALFORMED",
    });
  }
  return boundary;
}

export function createParser(boundary: string, { parts, fileBytes, fieldBytes }: CompleteUploadLimits): Busboy {
  return busboy({
    headers: { "content-type": `multipart/form-data; boundary="${boundary}"` },
    defParamCharset: "utf8",
    limits: {
      parts: parts + 1,
      files: parts + 1,
      fields: parts + 1,
      fileSize: fileBytes + 1,
      fieldSize: fieldBytes + 1,
      fieldNameSize: MAX_NAME_BYTES,
    },
  });
}
