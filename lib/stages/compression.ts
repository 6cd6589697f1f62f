/**
 * Stage layer: compresses bodies that become shorter by it, with `br` or `gzip`, as the client prefers. It sees the final body of each
 * response. A stream stays a stream, and each of its chunks is sent at once.
 *
 * Not for responses that contain a secret together with text that a client chose (the BREACH attack): send these with `no-transform` in
 * `Cache-Control`.
 *
 * @example
 * builder.compression({ threshold: 2048 });
 */
import { constants, brotliCompress, createBrotliCompress, createGzip, gzip, type CompressCallback } from "node:zlib";
import { pipeline, Readable } from "node:stream";
import type { IncomingMessage, ServerResponse } from "node:http";
import { getAnnouncedLength, checkLength } from "../http/response/announced-length.js";
import { type Coding, pickCoding, readAcceptEncoding } from "../http/request/accept-encoding.js";
import { settleBody } from "../http/response/returned-value.js";
import type { Context } from "../http/request/context.js";
import { getBodyLength } from "../http/response/response-state.js";
import { StageLayer, type Run } from "../http/middleware.js";
import { isStream } from "../http/response/body-stream.js";
import { BoundedMemo } from "../http/request/bounded-memo.js";
import { isCompressible } from "../http/response/media-type.js";
import { CODED_BYTES_HEADERS, toWeakTag } from "../http/response/coded-content.js";
import { VaryCompleter } from "../http/response/vary.js";
import { checkWholeNumber } from "../errors/whole-number.js";

export interface CompressionOptions {
  /** A shorter body, in bytes, is sent without compression, when its length is known; 1024 unless set. */
  readonly threshold?: number;
  /** 0 to 11; 4 unless set: higher values cost too much time for each response. */
  readonly brotliQuality?: number;
  /** 1 to 9; 6 unless set. */
  readonly gzipLevel?: number;
}

type CompressionSettings = Required<CompressionOptions>;

type Choice = { readonly coding: Coding | undefined };

export class CompressionLayer extends StageLayer {
  private readonly settings: CompressionSettings;
  private readonly encoder: Encoder;
  private readonly varies = new VaryCompleter("Accept-Encoding");
  private readonly types = new BoundedMemo(isCompressible);
  private readonly choices = new BoundedMemo<Choice>((header) => ({ coding: pickCoding(readAcceptEncoding(header)) }));

  /** @throws FrameworkError `E_COMPRESSION_OPTION` for a number out of its range */
  constructor(options: CompressionOptions = {}) {
    super();
    this.settings = toCompressionSettings(options);
    this.encoder = new Encoder(this.settings);
  }

  override wrap(inner: Run): Run {
    return (ctx) => {
      try {
        const result = inner(ctx);
        if (result !== undefined)
          return result.then(
            () => this.encode(ctx),
            (thrown: unknown) => this.rethrow(ctx, thrown),
          );
      } catch (thrown) {
        this.rethrow(ctx, thrown);
      }
      return this.encode(ctx);
    };
  }

  private encode(ctx: Context): void | Promise<void> {
    const { raw, incoming } = ctx;
    if (ctx.headIsSent || ctx.isWrittenByHand) return undefined;
    settleBody(ctx);
    if (!this.isCompressible(ctx) || hasDecidedEncoding(raw)) return undefined;
    ctx.completeHeadWith(this.varies);
    const coding = this.chooseCoding(incoming);
    if (coding === undefined || isWithoutContent(raw.statusCode)) return undefined;
    if (raw.statusCode === 304) return weakenTag(raw);
    const length = getPlainLength(ctx);
    if (length < this.settings.threshold || ctx.isClientGone) return undefined;
    if (incoming.method === "HEAD") return setUnknownLength(ctx);
    return ctx.payload === undefined ? undefined : this.replace(ctx, coding, length);
  }

  /** A 304 counts as compressible: it has no type, and caches update the headers of the stored response from it. */
  private isCompressible({ raw, inferredType }: Context): boolean {
    const type = raw.getHeader("Content-Type") ?? inferredType;
    return type === undefined ? raw.statusCode === 304 : this.types.get(String(type));
  }

  /** An outer stage responds to an unhandled error with a problem, which may vary by encoding like all other responses. */
  private rethrow(ctx: Context, thrown: unknown): never {
    ctx.completeHeadWith(this.varies);
    throw thrown;
  }

  private chooseCoding({ headers }: IncomingMessage): Coding | undefined {
    const header = headers["accept-encoding"];
    return header === undefined ? undefined : this.choices.get(header).coding;
  }

  private replace(ctx: Context, coding: Coding, length: number): void | Promise<void> {
    const { payload } = ctx;
    // After `settleBody` a body is a string, bytes or a stream.
    if (!isStream(payload)) return this.replaceWhole(ctx, coding, payload as string | Uint8Array, length);
    const encoded = this.encoder.encodeStream(coding, payload);
    // The length of the compressed body is unknown, so no later check can compare it.
    const announced = getAnnouncedLength(ctx.raw);
    if (announced !== undefined)
      checkLength(payload, { min: announced, max: announced }, (error) => void encoded.destroy(error));
    setEncodedBody(ctx, coding, encoded);
    return undefined;
  }

  private async replaceWhole(ctx: Context, coding: Coding, body: string | Uint8Array, length: number): Promise<void> {
    const bytes = await this.encoder.encodeWhole(coding, body, length);
    if (bytes.byteLength < length) setEncodedBody(ctx, coding, bytes);
  }
}

/** Whether a handler or an inner stage has already decided the encoding. */
function hasDecidedEncoding(raw: ServerResponse): boolean {
  if (raw.hasHeader("Content-Encoding")) return true;
  const cacheControl = raw.getHeader("Cache-Control");
  return cacheControl !== undefined && /(?:^|,)[ \t]*no-transform[ \t]*(?:,|$)/i.test(String(cacheControl));
}

/** The length of the plain body in bytes; `Infinity` if it is unknown. */
function getPlainLength({ payload, raw }: Context): number {
  const unknown = payload === undefined ? 0 : Infinity;
  return getBodyLength(payload) ?? Number(raw.getHeader("Content-Length") ?? unknown);
}

/** Whether a response has no content, or a part of the plain content. */
function isWithoutContent(status: number): boolean {
  return status === 204 || status === 205 || status === 206;
}

function setEncodedBody(ctx: Context, coding: Coding, body: unknown): void {
  removePlainHeaders(ctx.raw);
  ctx.raw.setHeader("Content-Encoding", coding);
  ctx.payload = body;
}

/** HEAD gets the head of GET (RFC 9110 section 9.3.2) without the length and the encoding, which are known only after compressing. */
function setUnknownLength(ctx: Context): void {
  removePlainHeaders(ctx.raw);
  if (!isStream(ctx.payload)) ctx.payload = new Readable({ read() {} });
}

/** Removes the headers that describe the bytes of the plain body. */
function removePlainHeaders(raw: ServerResponse): void {
  for (const name of CODED_BYTES_HEADERS) raw.removeHeader(name);
  weakenTag(raw);
}

function weakenTag(raw: ServerResponse): void {
  const tag = raw.getHeader("ETag");
  if (tag !== undefined) raw.setHeader("ETag", toWeakTag(String(tag)));
}

/**
 * Node's zlib, outside the event loop. It compresses a whole body at once, with a window that is not larger than the body needs, or a
 * stream, chunk by chunk.
 */
class Encoder {
  constructor(private readonly settings: Pick<CompressionSettings, "brotliQuality" | "gzipLevel">) {}

  encodeWhole(coding: Coding, body: string | Uint8Array, length: number): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const done: CompressCallback = (error, bytes) => (error === null ? resolve(bytes) : reject(error));
      if (coding === "br") brotliCompress(body, { params: this.getBrotliParams(length) }, done);
      else gzip(body, { level: this.settings.gzipLevel, windowBits: getWindowBits(length, 9, 15) }, done);
    });
  }

  /** Returns the compressed `source`. If one of the two streams fails or is destroyed, the other one is destroyed too. */
  encodeStream(coding: Coding, source: Readable): Readable {
    const encoder =
      coding === "br"
        ? createBrotliCompress({ flush: constants.BROTLI_OPERATION_FLUSH, params: this.getBrotliParams(undefined) })
        : createGzip({ flush: constants.Z_SYNC_FLUSH, level: this.settings.gzipLevel });
    // The reader of the encoder sees its error.
    pipeline(source, encoder, () => {});
    return encoder;
  }

  private getBrotliParams(length: number | undefined): Record<number, number> {
    const quality = { [constants.BROTLI_PARAM_QUALITY]: this.settings.brotliQuality };
    if (length === undefined) return quality;
    return {
      ...quality,
      [constants.BROTLI_PARAM_SIZE_HINT]: length,
      [constants.BROTLI_PARAM_LGWIN]: getWindowBits(length, constants.BROTLI_MIN_WINDOW_BITS, 22),
    };
  }
}

/** The bits of the smallest window that holds the body, between `from` and `to`. */
function getWindowBits(length: number, from: number, to: number): number {
  return Math.min(to, Math.max(from, Math.ceil(Math.log2(length + 1)) + 1));
}

const OPTION_CODE = "E_COMPRESSION_OPTION";

function toCompressionSettings(options: CompressionOptions): CompressionSettings {
  const { threshold = 1024, brotliQuality = 4, gzipLevel = 6 } = options;
  const { BROTLI_MIN_QUALITY, BROTLI_MAX_QUALITY, Z_BEST_SPEED, Z_BEST_COMPRESSION } = constants;
  checkWholeNumber(OPTION_CODE, "threshold", threshold, [0]);
  checkWholeNumber(OPTION_CODE, "brotliQuality", brotliQuality, [BROTLI_MIN_QUALITY, BROTLI_MAX_QUALITY]);
  checkWholeNumber(OPTION_CODE, "gzipLevel", gzipLevel, [Z_BEST_SPEED, Z_BEST_COMPRESSION]);
  return { threshold, brotliQuality, gzipLevel };
}
