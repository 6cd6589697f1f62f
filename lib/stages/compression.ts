/**
 * Stage layer: `br` or `gzip`, as the client prefers, on bodies that gain by it. Sees the final body of every answer further in;
 * streams stay streams, and every chunk that comes is sent on at once.
 *
 * Not for answers that mix a secret with text of the client's choosing (the BREACH attack): send those with
 * `Cache-Control: no-transform`.
 *
 * @example
 * builder.compression({ threshold: 2048 });
 */
import { constants, brotliCompress, createBrotliCompress, createGzip, gzip, type CompressCallback } from "node:zlib";
import { pipeline, Readable } from "node:stream";
import type { IncomingMessage, ServerResponse } from "node:http";
import { FrameworkError } from "../errors/framework-error.js";
import { type Coding, pickCoding, readAcceptEncoding } from "../http/accept-encoding.js";
import { settleBody } from "../http/returned-value.js";
import type { Context } from "../http/context.js";
import { lengthOf } from "../http/answer.js";
import { Layer, type Run } from "../http/middleware.js";
import { isStream } from "../http/body-stream.js";
import { BoundedMemo } from "../http/bounded-memo.js";
import { isCompressible } from "../http/media-type.js";
import { Varying } from "../http/vary.js";

/** The settings of the compression stage, and the check of them. */
export interface CompressionOptions {
  /** A body that is known to be shorter, in bytes, is sent as it is; 1024 unless set. */
  readonly threshold?: number;
  /** 0 to 11; 4 unless set, as far as a server can go for every answer. */
  readonly brotliQuality?: number;
  /** 1 to 9; 6 unless set. */
  readonly gzipLevel?: number;
}

export type CompressionSettings = Required<CompressionOptions>;

/** Throws `E_COMPRESSION_OPTION` for a number out of its range. */
export function compressionSettings(options: CompressionOptions): CompressionSettings {
  const { threshold = 1024, brotliQuality = 4, gzipLevel = 6 } = options;
  check("threshold", threshold, 0, Number.MAX_SAFE_INTEGER);
  check("brotliQuality", brotliQuality, constants.BROTLI_MIN_QUALITY, constants.BROTLI_MAX_QUALITY);
  check("gzipLevel", gzipLevel, constants.Z_BEST_SPEED, constants.Z_BEST_COMPRESSION);
  return { threshold, brotliQuality, gzipLevel };
}

function check(name: string, value: number, from: number, to: number): void {
  if (Number.isInteger(value) && value >= from && value <= to) return;
  throw new FrameworkError(`compression: ${name} ${String(value)} is not a whole number from ${from} to ${to}`, {
    code: "E_COMPRESSION_OPTION",
  });
}

/**
 * Node's zlib, off the event loop: a whole body at once with windows no larger than the body, or a stream that lets out every chunk
 * as soon as it came in.
 */
export class Encoder {
  constructor(private readonly settings: Pick<CompressionSettings, "brotliQuality" | "gzipLevel">) {}

  whole(coding: Coding, body: string | Uint8Array, length: number): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const done: CompressCallback = (error, bytes) => (error === null ? resolve(bytes) : reject(error));
      if (coding === "br") brotliCompress(body, { params: this.brotli(length) }, done);
      else gzip(body, { level: this.settings.gzipLevel, windowBits: window(length, 9, 15) }, done);
    });
  }

  /** The encoded form of `source`; when either of them fails or is destroyed, so is the other. */
  stream(coding: Coding, source: Readable): Readable {
    const encoder =
      coding === "br"
        ? createBrotliCompress({ flush: constants.BROTLI_OPERATION_FLUSH, params: this.brotli(undefined) })
        : createGzip({ flush: constants.Z_SYNC_FLUSH, level: this.settings.gzipLevel });
    // Whoever reads the encoder sees its error; here is nothing to add.
    pipeline(source, encoder, () => {});
    return encoder;
  }

  private brotli(length: number | undefined): Record<number, number> {
    const quality = { [constants.BROTLI_PARAM_QUALITY]: this.settings.brotliQuality };
    if (length === undefined) return quality;
    return {
      ...quality,
      [constants.BROTLI_PARAM_SIZE_HINT]: length,
      [constants.BROTLI_PARAM_LGWIN]: window(length, constants.BROTLI_MIN_WINDOW_BITS, 22),
    };
  }
}

/** The bits of the smallest window that holds the whole body. */
function window(length: number, from: number, to: number): number {
  return Math.min(to, Math.max(from, Math.ceil(Math.log2(length + 1)) + 1));
}

type Choice = { readonly coding: Coding | undefined };

export class CompressionLayer extends Layer {
  private readonly settings: CompressionSettings;
  private readonly encoder: Encoder;
  private readonly varies = new Varying("Accept-Encoding");
  private readonly types = new BoundedMemo(isCompressible);
  private readonly choices = new BoundedMemo<Choice>((header) => ({ coding: pickCoding(readAcceptEncoding(header)) }));

  /** Throws `E_COMPRESSION_OPTION` for a number out of its range. */
  constructor(options: CompressionOptions = {}) {
    super();
    this.settings = compressionSettings(options);
    this.encoder = new Encoder(this.settings);
  }

  override wrap(inner: Run): Run {
    return (ctx) => {
      try {
        const result = inner(ctx);
        if (result !== undefined)
          return result.then(
            () => this.encode(ctx),
            (thrown: unknown) => this.pass(ctx, thrown),
          );
      } catch (thrown) {
        this.pass(ctx, thrown);
      }
      return this.encode(ctx);
    };
  }

  private encode(ctx: Context): void | Promise<void> {
    const { raw, incoming } = ctx;
    if (ctx.headIsSent || ctx.isWrittenByHand) return undefined;
    settleBody(ctx);
    if (!this.isCompressible(ctx) || isSettled(raw)) return undefined;
    ctx.completeHeadWith(this.varies);
    const coding = this.codingFor(incoming);
    if (coding === undefined || isWithoutContent(raw.statusCode)) return undefined;
    if (raw.statusCode === 304) return weakenTag(raw);
    const length = plainLength(ctx);
    if (length < this.settings.threshold || ctx.isClientGone) return undefined;
    if (incoming.method === "HEAD") return leaveOpen(ctx);
    return ctx.payload === undefined ? undefined : this.replace(ctx, coding, length);
  }

  /** What a 304 speaks of may be: it has no type, and what it says of the answer before it is what caches believe from now on. */
  private isCompressible({ raw, naturalType }: Context): boolean {
    const type = raw.getHeader("Content-Type") ?? naturalType;
    return type === undefined ? raw.statusCode === 304 : this.types.of(String(type));
  }

  /** A panic on its way to the backstop, whose problem is an answer that would be compressed if it were longer. */
  private pass(ctx: Context, thrown: unknown): never {
    ctx.completeHeadWith(this.varies);
    throw thrown;
  }

  private codingFor({ headers }: IncomingMessage): Coding | undefined {
    const header = headers["accept-encoding"];
    return header === undefined ? undefined : this.choices.of(header).coding;
  }

  private replace(ctx: Context, coding: Coding, length: number): void | Promise<void> {
    const { payload } = ctx;
    // `settleBody` has left nothing else.
    if (!isStream(payload)) return this.replaceWhole(ctx, coding, payload as string | Uint8Array, length);
    put(ctx, coding, this.encoder.stream(coding, payload));
    return undefined;
  }

  private async replaceWhole(ctx: Context, coding: Coding, body: string | Uint8Array, length: number): Promise<void> {
    const bytes = await this.encoder.whole(coding, body, length);
    if (bytes.byteLength < length) put(ctx, coding, bytes);
  }
}

/** Someone has decided about the encoding already. */
function isSettled(raw: ServerResponse): boolean {
  if (raw.hasHeader("Content-Encoding")) return true;
  const cacheControl = raw.getHeader("Cache-Control");
  return cacheControl !== undefined && /(?:^|,)[ \t]*no-transform[ \t]*(?:,|$)/i.test(String(cacheControl));
}

/** Bytes of the body as it is, where they are known. */
function plainLength({ payload, raw }: Context): number {
  const unknown = payload === undefined ? 0 : Infinity;
  return lengthOf(payload) ?? Number(raw.getHeader("Content-Length") ?? unknown);
}

/** No content, or a part of the plain one. */
function isWithoutContent(status: number): boolean {
  return status === 204 || status === 205 || status === 206;
}

function put(ctx: Context, coding: Coding, body: unknown): void {
  forgetPlainBody(ctx.raw);
  ctx.raw.setHeader("Content-Encoding", coding);
  ctx.payload = body;
}

/** HEAD gets the head of GET (RFC 9110 section 9.3.2), but for what only compressing would tell: whether it gains, and the length then. */
function leaveOpen(ctx: Context): void {
  forgetPlainBody(ctx.raw);
  if (!isStream(ctx.payload)) ctx.payload = new Readable({ read() {} });
}

/** What the head says of the bytes as they were does not hold any more. */
function forgetPlainBody(raw: ServerResponse): void {
  raw.removeHeader("Content-Length");
  raw.removeHeader("Accept-Ranges");
  weakenTag(raw);
}

/** The bytes differ from those the strong tag stands for (RFC 9110 section 8.8.3.3). */
function weakenTag(raw: ServerResponse): void {
  const tag = raw.getHeader("ETag");
  if (tag !== undefined && !String(tag).startsWith("W/")) raw.setHeader("ETag", `W/${String(tag)}`);
}
