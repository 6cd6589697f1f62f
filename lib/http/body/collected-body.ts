/**
 * The bytes of a request body, collected once for all readers of the request, up to a limit. A reader gives a function that converts the
 * bytes, and gets one promise of its result. Not for the application, which reads with `ctx.json` and its kind, or `ctx.req`.
 *
 * The function runs while Node emits the end of the body, outside the flow of the handler. So it calls no code of the application.
 */
import {
  BadRequestError,
  FrameworkError,
  PayloadTooLargeError,
  type UnsupportedMediaTypeError,
} from "../../errors/framework-error.js";
import { markHandled } from "../../runtime/mark-handled.js";
import type { Exchange } from "../request/exchange.js";
import { Extension } from "../request/extension.js";
import { createUnsupportedTypeError } from "./unsupported-type.js";

/**
 * The number of chunks that are collected before they are joined. A chunk costs over a hundred bytes besides its content, which may be a
 * single byte.
 */
const MAX_CHUNKS = 1024;

/** Reads the whole body. A promise that fails before the application awaits it is no unhandled rejection. @internal */
export function readBody<T>(ctx: Exchange, convert: (bytes: Buffer) => T): Promise<T> {
  const reading = new BodyReading(convert);
  let body = CollectedBody.ofRequest.find(ctx);
  if (body === undefined) CollectedBody.ofRequest.set(ctx, (body = new CollectedBody(ctx)));
  body.add(reading);
  return reading.promise;
}

/** Whether a reader has asked for the body. @internal */
export function isBodyRead(ctx: Exchange): boolean {
  return CollectedBody.ofRequest.find(ctx) !== undefined;
}

interface BodyListener {
  succeed(bytes: Buffer): void;
  fail(error: unknown): void;
}

/** The promise of one reader. It needs no second promise, which would cost more than the collecting of a small body. */
class BodyReading<T> implements BodyListener {
  readonly promise: Promise<T>;
  private resolve: (value: T) => void = ignore;
  private reject: (error: unknown) => void = ignore;

  constructor(private readonly convert: (bytes: Buffer) => T) {
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  succeed(bytes: Buffer): void {
    try {
      this.resolve(this.convert(bytes));
    } catch (error) {
      this.fail(error);
    }
  }

  fail(error: unknown): void {
    void markHandled(this.promise);
    this.reject(error);
  }
}

function ignore(): void {}

class CollectedBody {
  static readonly ofRequest = new Extension<CollectedBody>("request body");

  private readonly limit: number;
  private readonly chunks: Buffer[] = [];
  private size = 0;
  private joined = 0;
  private bytes: Buffer | undefined = undefined;
  private failure: { readonly error: unknown } | undefined = undefined;
  private readonly listeners: BodyListener[] = [];

  constructor(private readonly ctx: Exchange) {
    this.limit = ctx.bodyLimit ?? ctx.readLimit;
    const { incoming } = ctx;
    const fault = findFault(ctx, this.limit);
    if (fault !== undefined) this.fail(fault);
    else if (incoming.readableEnded) this.bytes = Buffer.alloc(0);
    else if (incoming.destroyed) this.fail(incoming.errored ?? createBrokenOffError());
    else this.collect();
  }

  add(listener: BodyListener): void {
    if (this.bytes !== undefined) listener.succeed(this.bytes);
    else if (this.failure !== undefined) listener.fail(this.failure.error);
    else this.listeners.push(listener);
  }

  /** The other listeners stay: they are collected with the request, and removing them would cost time for each body. */
  private collect(): void {
    const { ctx } = this;
    const { incoming } = ctx;
    incoming
      .on("data", this.addChunk)
      .on("end", () => this.succeed())
      .on("error", (error) => this.fail(ctx.isClientGone ? ctx.abortSignal.reason : error))
      .on("close", () => {
        if (!incoming.readableEnded)
          this.fail(ctx.isClientGone ? ctx.abortSignal.reason : new BadRequestError("The request body ended early."));
      });
  }

  private readonly addChunk = (chunk: Buffer): void => {
    if (this.failure !== undefined) return;
    const { chunks } = this;
    this.size += chunk.length;
    chunks.push(chunk);
    if (chunks.length - this.joined === MAX_CHUNKS) chunks.push(Buffer.concat(chunks.splice(this.joined++)));
    if (this.size <= this.limit) return;
    this.ctx.incoming.pause();
    this.fail(createTooLargeError(this.limit));
  };

  private succeed(): void {
    const { chunks, size, listeners } = this;
    if (this.failure !== undefined) return;
    // Node would remove it after the response by deleting a property of the table of listeners, which costs more.
    this.ctx.incoming.off("data", this.addChunk);
    const [first] = chunks;
    const bytes = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, size);
    this.bytes = bytes;
    for (const listener of listeners) listener.succeed(bytes);
  }

  private fail(error: unknown): void {
    if (this.failure !== undefined || this.bytes !== undefined) return;
    this.failure = { error };
    this.chunks.length = 0;
    for (const listener of this.listeners) listener.fail(error);
  }
}

/** The fault of a request whose head already shows that its body is not read. */
function findFault({ incoming: { headers } }: Exchange, limit: number): Error | undefined {
  const coding = headers["content-encoding"];
  if (coding !== undefined && coding.trim().toLowerCase() !== "identity") return createCodedBodyError(coding);
  const transfer = headers["transfer-encoding"];
  // A server of the framework has already refused this request. With `callback()` the server is the caller's.
  if (transfer !== undefined && transfer.toLowerCase() !== "chunked")
    return new BadRequestError("The request has a Transfer-Encoding that is not read.");
  return Number(headers["content-length"] ?? 0) > limit ? createTooLargeError(limit) : undefined;
}

/** The error for a body with a content coding. The readers never decompress a body. */
export function createCodedBodyError(coding: string): UnsupportedMediaTypeError {
  return createUnsupportedTypeError(
    coding,
    "no Content-Encoding",
    "The request has a Content-Encoding, and none is read.",
  );
}

export function createTooLargeError(limit: number): PayloadTooLargeError {
  return new PayloadTooLargeError(`The request body is larger than ${limit} bytes.`);
}

/** The error for a stream of which other code has read a part. */
function createBrokenOffError(): FrameworkError {
  return new FrameworkError(
    "the request's body was partly read already, and cannot be read again: read it by one way, ctx.req or a reader",
    {
      code: "E_BODY_BROKEN_OFF",
    },
  );
}
