/**
 * Compares a body with its `Content-Length` (RFC 9110 section 8.6). If bytes are missing, the client reads the next response as the rest of
 * this one. If there are too many, the client reads the surplus as the next response. Both end the connection. Only for streams, and for
 * bodies behind a head that the application wrote: the framework counts the bytes of any other body itself.
 */
import type { ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { FrameworkError } from "../../errors/framework-error.js";

/** Bounds of the length of a body, in bytes. `undefined` means no bound. */
export interface LengthBounds {
  readonly min: number | undefined;
  readonly max: number | undefined;
}

/** Returns the `Content-Length` of a written head; `undefined` if it has none, or if Node sends the body in chunks. */
export function getAnnouncedLength(raw: ServerResponse): number | undefined {
  const length = raw.chunkedEncoding ? NaN : Number(raw.getHeader("Content-Length"));
  return Number.isNaN(length) ? undefined : length;
}

/** Returns the error of a body of `length` bytes; `undefined` for a length within `bounds`. */
export function findLengthError(length: number, { min = 0, max = Infinity }: LengthBounds): FrameworkError | undefined {
  if (length > max) return new FrameworkError(`the body is longer than its Content-Length of ${max} bytes`, CODE);
  if (length < min) return new FrameworkError(`the body has ${length} bytes of the ${min} in its Content-Length`, CODE);
  return undefined;
}

const CODE = { code: "E_BODY_LENGTH" } as const;

/**
 * Calls `cut` before a byte too many is written, and before an end that comes too early. Call it after `pipeline`: it puts its listeners
 * before those of the pipeline.
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
