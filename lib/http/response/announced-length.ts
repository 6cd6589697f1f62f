/**
 * Compares a body with its `Content-Length`. If bytes are missing, the client reads the next answer as the rest of this one; if there are
 * too many, it reads them as the next answer. Both end the connection (RFC 9110 section 8.6). Only for streams, and for bodies behind a
 * head that the application wrote: the framework counts any other body itself.
 */
import type { ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { FrameworkError } from "../../errors/framework-error.js";

/** In bytes; `undefined`: no bound. */
export interface LengthBounds {
  readonly min: number | undefined;
  readonly max: number | undefined;
}

/** The `Content-Length` of a written head; `undefined` if there is none, or if Node sends the body in chunks. */
export function getAnnouncedLength(raw: ServerResponse): number | undefined {
  const length = raw.chunkedEncoding ? NaN : Number(raw.getHeader("Content-Length"));
  return Number.isNaN(length) ? undefined : length;
}

/** The error of a body of `length` bytes; `undefined` for one within `bounds`. */
export function findLengthError(length: number, { min = 0, max = Infinity }: LengthBounds): FrameworkError | undefined {
  if (length > max) return new FrameworkError(`the body is longer than its Content-Length of ${max} bytes`, CODE);
  if (length < min) return new FrameworkError(`the body has ${length} bytes of the ${min} in its Content-Length`, CODE);
  return undefined;
}

const CODE = { code: "E_BODY_LENGTH" } as const;

/**
 * Calls `cut` before a byte too many is written, and before an end that comes too early. To be called after `pipeline`: the listeners of
 * this check are put before those of the pipeline.
 */
export function checkLength(stream: Readable, { min, max }: LengthBounds, cut: (error: Error) => void): void {
  let sent = 0;
  const check = (bounds: LengthBounds): void => {
    const error = findLengthError(sent, bounds);
    if (error !== undefined) cut(error);
  };
  stream.prependListener("data", (chunk: string | Uint8Array) => {
    sent += Buffer.byteLength(chunk);
    check({ min: undefined, max });
  });
  const checkEnd = (): void => check({ min, max: undefined });
  if (stream.readableEnded) checkEnd();
  else stream.prependOnceListener("end", checkEnd);
}
