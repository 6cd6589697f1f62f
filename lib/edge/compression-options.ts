/** The settings of the compression stage, and the check of them. */
import { constants } from "node:zlib";
import { FrameworkError } from "../errors/framework-error.js";

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
