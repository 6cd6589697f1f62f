/**
 * Node's zlib, off the event loop: a whole body at once with windows no larger than the body, or a stream that lets out every chunk
 * as soon as it came in.
 */
import { pipeline, type Readable } from "node:stream";
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip, type CompressCallback } from "node:zlib";
import type { Coding } from "../http/accept-encoding.js";
import type { CompressionSettings } from "./compression-options.js";

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
