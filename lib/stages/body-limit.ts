/**
 * Stage layer, and middleware for a route or a group: limits the bytes of a request body. A request with a larger `Content-Length` is
 * refused with 413 before its body is read. A body of unknown length (chunked) is counted while `ctx.json`, `ctx.form`, `ctx.text` or
 * `ctx.req` reads it; above the limit the reader gets a `PayloadTooLargeError`.
 *
 * A route may lower the limit of the stage. It may raise the limit up to the `cap` of the stage. With a cap, a length between limit
 * and cap is refused when the body is first read, because the route that may allow it is not known before.
 *
 * @example
 * builder.bodyLimit(2_097_152, { cap: 52_428_800 });
 * Route.post("/photos", upload).middleware(new BodyLimitLayer(20_971_520));
 */
import { valueText } from "../errors/value-text.js";
import type { IncomingMessage } from "node:http";
import { PayloadTooLargeError } from "../errors/framework-error.js";
import { Extension } from "../http/request/extension.js";
import { keepConnectionOpen } from "../http/connection/unread-body.js";
import { refuse } from "../http/failures/refuse.js";
import type { Context } from "../http/request/context.js";
import { StageLayer, type Run } from "../http/middleware.js";
import { tracing } from "../tracing/tracing.js";
import { createSetupError } from "../errors/setup-error.js";

const log = tracing.target("framework::http::body_limit");

export interface BodyLimitOptions {
  /** The maximum limit that a route may set, in bytes; the limit itself unless set. It has no effect inside another body limit. */
  readonly cap?: number;
}

const REFUSED = Object.freeze({ status: 413 });

/** The cap of a request, if it is above the limit. */
const Cap = new Extension<number>("body limit's cap");

export class BodyLimitLayer extends StageLayer {
  private readonly cap: number;

  /** @throws FrameworkError `E_BODY_LIMIT` unless both are whole numbers, 0 or more, and the cap is not below the limit */
  constructor(
    private readonly bytes: number,
    options: BodyLimitOptions = {},
  ) {
    super();
    const { cap = bytes } = options;
    this.cap = cap;
    if (Number.isSafeInteger(bytes) && bytes >= 0 && Number.isSafeInteger(cap) && cap >= bytes) return;
    const given = cap === bytes ? valueText(bytes) : `${valueText(bytes)} bytes and a cap of ${valueText(cap)}`;
    throw createSetupError(
      "E_BODY_LIMIT",
      `a body limit of ${given}: use whole numbers, 0 or more, and a cap not below the limit`,
    );
  }

  override wrap(inner: Run): Run {
    return (ctx) => {
      if (this.admits(ctx)) return inner(ctx);
      refuseRequest(ctx);
      return undefined;
    };
  }

  private admits(ctx: Context): boolean {
    const limit = this.setLimit(ctx);
    const { "content-length": announced, "transfer-encoding": coding } = ctx.incoming.headers;
    if (announced === undefined) return coding === undefined || count(ctx, limit, undefined);
    const length = Number(announced);
    if (length <= limit) return CountedBody.ofRequest.find(ctx)?.allow(limit) ?? true;
    return length <= (Cap.find(ctx) ?? limit) && count(ctx, limit, length);
  }

  /** Sets the limit of the request. Only the outermost body limit sets a cap; the inner ones may lower limit and cap. */
  private setLimit(ctx: Context): number {
    const { bodyLimit: outer } = ctx;
    if (outer === undefined) {
      if (this.cap > this.bytes) Cap.set(ctx, this.cap);
      return (ctx.bodyLimit = this.bytes);
    }
    const cap = Cap.find(ctx);
    const limit = Math.min(this.bytes, cap ?? outer);
    if (cap !== undefined) Cap.set(ctx, limit);
    return (ctx.bodyLimit = limit);
  }
}

/** Starts or continues to count the body. Returns whether the bytes that were already read are within the limit. */
function count(ctx: Context, limit: number, announced: number | undefined): boolean {
  const counted = CountedBody.ofRequest.find(ctx);
  if (counted !== undefined) return counted.allow(limit);
  CountedBody.ofRequest.set(ctx, new CountedBody(ctx.incoming, limit, announced));
  return true;
}

function refuseRequest(ctx: Context): void {
  log.debug("request refused", REFUSED);
  refuse(ctx, 413);
}

/**
 * Counts the bytes of a request body while they arrive. A reader that goes beyond the limit gets a `PayloadTooLargeError` from the
 * stream. Without a reader at most one buffer of the stream is filled, and no error occurs.
 */
class CountedBody {
  /** The counter of a request, if its body is counted. */
  static readonly ofRequest = new Extension<CountedBody>("counted body");

  private isBeingRead = false;
  private byteCount: number;

  /** @param announced the `Content-Length`, if it is known and lies between limit and cap */
  constructor(
    incoming: IncomingMessage,
    private limit: number,
    announced: number | undefined,
  ) {
    this.byteCount = announced ?? 0;
    // An error of the stream refuses the reader, and its response still needs the connection.
    keepConnectionOpen(incoming);
    if (announced === undefined) this.countChunks(incoming);
    this.watchReaders(incoming);
  }

  /** Changes the limit. Returns whether the bytes that were already read are within it. */
  allow(limit: number): boolean {
    this.limit = limit;
    return !this.isBeingRead || this.byteCount <= limit;
  }

  private countChunks(incoming: IncomingMessage): void {
    const push = incoming.push.bind(incoming);
    incoming.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
      this.byteCount += chunk?.length ?? 0;
      if (!this.isBeingRead || this.byteCount <= this.limit) return push(chunk, encoding);
      this.destroyStream(incoming);
      return false;
    };
  }

  /** Every way to read a stream calls its `read`. */
  private watchReaders(incoming: IncomingMessage): void {
    const read = incoming.read.bind(incoming);
    incoming.read = (size?: number): unknown => {
      this.isBeingRead = true;
      if (this.byteCount <= this.limit) return read(size);
      this.destroyStream(incoming);
      return null;
    };
  }

  private destroyStream(incoming: IncomingMessage): void {
    incoming.destroy(new PayloadTooLargeError(`The request body is larger than ${this.limit} bytes.`));
  }
}
