/**
 * A body beside its `Content-Length`. Bytes that are missing make the client take the next answer for the rest of this one, and bytes
 * beyond it are read as the next answer, so both end the connection (RFC 9110 section 8.6). Only for streams, and for bodies behind
 * a head that the application wrote: the length of any other body is the framework's own count.
 */
import type { ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { FrameworkError } from "../errors/framework-error.js";

/** In bytes; `undefined`: no bound. */
export interface LengthBounds {
  readonly least: number | undefined;
  readonly most: number | undefined;
}

/** The `Content-Length` of a head that is written; `undefined` where there is none, or where Node sends the body in chunks. */
export function announcedLength(raw: ServerResponse): number | undefined {
  const length = raw.chunkedEncoding ? NaN : Number(raw.getHeader("Content-Length"));
  return Number.isNaN(length) ? undefined : length;
}

/** The error of a body of `length` bytes; `undefined` for one within `bounds`. */
export function lengthError(length: number, { least = 0, most = Infinity }: LengthBounds): FrameworkError | undefined {
  if (length > most) return new FrameworkError(`the body is longer than its Content-Length of ${most} bytes`, CODE);
  if (length < least)
    return new FrameworkError(`the body has ${length} bytes of the ${least} in its Content-Length`, CODE);
  return undefined;
}

const CODE = { code: "E_BODY_LENGTH" } as const;

/**
 * Calls `cut` before a byte too much is written, and before an end that comes too soon. To be called behind `pipeline`, whose
 * listeners have the stream flow and come after those of this check.
 */
export function checkLength(stream: Readable, { least, most }: LengthBounds, cut: (error: Error) => void): void {
  let sent = 0;
  const check = (bounds: LengthBounds): void => {
    const error = lengthError(sent, bounds);
    if (error !== undefined) cut(error);
  };
  stream.prependListener("data", (chunk: string | Uint8Array) => {
    sent += Buffer.byteLength(chunk);
    check({ least: undefined, most });
  });
  const ended = (): void => check({ least, most: undefined });
  if (stream.readableEnded) ended();
  else stream.prependOnceListener("end", ended);
}
