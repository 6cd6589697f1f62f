/**
 * Stage layer, and middleware for a route or a group: how many bytes the body of a request may have. One that announces more is
 * answered 413 before a byte of it is read; one that does not say how long it is (chunked) is counted while it is read, by
 * `ctx.json`, `ctx.form`, `ctx.text` or straight from `ctx.req`, and the reader gets a `PayloadTooLargeError`.
 *
 * On a route it asks for less. It may ask for more only up to the `cap` of the stage; then a length between the two is refused when
 * the body is first read, since only the route knows whether it is welcome.
 *
 * @example
 * builder.bodyLimit(2_097_152, { cap: 52_428_800 });
 * Route.post("/photos", upload).middleware(new BodyLimitLayer(20_971_520));
 */
import type { IncomingMessage } from "node:http";
import { PayloadTooLargeError, FrameworkError } from "../errors/framework-error.js";
import { Extension } from "../http/extension.js";
import { spareConnection } from "../http/unread-body.js";
import { refuse } from "../http/refuse.js";
import type { Context } from "../http/context.js";
import { Layer, type Run } from "../http/middleware.js";
import { tracing } from "../tracing/tracing.js";

/**
 * A request's body whose length is not known beforehand, counted as it comes in: whoever reads it beyond the limit, by whatever means,
 * gets a `PayloadTooLargeError` from the stream. As long as nobody reads, nothing happens: at most one buffer's worth waits.
 */
export class CountedBody {
  /** The count of a request's body, where it is counted. */
  static readonly ofRequest = new Extension<CountedBody>("counted body");

  private isBeingRead = false;
  private seen: number;

  /** @param announced the whole length, where it is known after all and only not yet whether it is too much */
  constructor(
    incoming: IncomingMessage,
    private limit: number,
    announced: number | undefined,
  ) {
    this.seen = announced ?? 0;
    // A reader that is refused must still be answered.
    spareConnection(incoming);
    if (announced === undefined) this.countWhatComes(incoming);
    this.watchReaders(incoming);
  }

  /** Changes the limit; whether what was read already is within it. */
  allow(limit: number): boolean {
    this.limit = limit;
    return !this.isBeingRead || this.seen <= limit;
  }

  private countWhatComes(incoming: IncomingMessage): void {
    const push = incoming.push.bind(incoming);
    incoming.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
      this.seen += chunk?.length ?? 0;
      if (!this.isBeingRead || this.seen <= this.limit) return push(chunk, encoding);
      this.refuse(incoming);
      return false;
    };
  }

  /** All ways of reading a stream go through its `read`. */
  private watchReaders(incoming: IncomingMessage): void {
    const read = incoming.read.bind(incoming);
    incoming.read = (size?: number): unknown => {
      this.isBeingRead = true;
      if (this.seen <= this.limit) return read(size);
      this.refuse(incoming);
      return null;
    };
  }

  private refuse(incoming: IncomingMessage): void {
    incoming.destroy(new PayloadTooLargeError(`The request body is larger than ${this.limit} bytes.`));
  }
}

const log = tracing.target("framework::http::body_limit");

export interface BodyLimitOptions {
  /** What routes may raise the limit to, in bytes; the limit itself unless given. Of no effect inside another body limit. */
  readonly cap?: number;
}

const REFUSED = Object.freeze({ status: 413 });

const Cap = new Extension<number>("body limit's cap");

export class BodyLimitLayer extends Layer {
  private readonly cap: number;

  /** @throws FrameworkError `E_BODY_LIMIT` unless both are whole numbers, 0 or more, and the cap is not below the limit */
  constructor(
    private readonly bytes: number,
    { cap = bytes }: BodyLimitOptions = {},
  ) {
    super();
    this.cap = cap;
    if (Number.isSafeInteger(bytes) && bytes >= 0 && Number.isSafeInteger(cap) && cap >= bytes) return;
    const given = cap === bytes ? String(bytes) : `${String(bytes)} bytes and a cap of ${String(cap)}`;
    throw new FrameworkError(`a body limit of ${given}: use whole numbers, 0 or more, and a cap not below the limit`, {
      code: "E_BODY_LIMIT",
    });
  }

  override wrap(inner: Run): Run {
    return (ctx) => {
      if (this.admits(ctx)) return inner(ctx);
      refuseRequest(ctx);
      return undefined;
    };
  }

  private admits(ctx: Context): boolean {
    const limit = this.lower(ctx);
    const { "content-length": announced, "transfer-encoding": coding } = ctx.incoming.headers;
    if (announced === undefined) return coding === undefined || count(ctx, limit, undefined);
    const length = Number(announced);
    if (length <= limit) return CountedBody.ofRequest.find(ctx)?.allow(limit) ?? true;
    return length <= (Cap.find(ctx) ?? limit) && count(ctx, limit, length);
  }

  /** Sets the limit of the request. Only the outermost leaves room above it; further in it just goes down. */
  private lower(ctx: Context): number {
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

/** Whether what was read so far is within the limit. */
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
