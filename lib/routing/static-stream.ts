/**
 * A part of an open file as a stream of a length that was promised already: a file that turns out shorter is an error, so that the
 * client sees a cut answer and never waits for the rest. The descriptor is closed at the end, and at once when the stream is
 * destroyed.
 */
import { close, read } from "node:fs";
import { Readable } from "node:stream";

/** Large enough that the turns through the thread pool do not count, small enough for many clients that read slowly. */
const CHUNK_BYTES = 131_072;

/** A part of a file, in bytes. */
export interface Section {
  readonly first: number;
  readonly length: number;
}

export class FileStream extends Readable {
  private isReading = false;
  private whenIdle: (() => void) | undefined;

  private position: number;
  private left: number;

  /** @param section at least one byte of the open file `descriptor` */
  constructor(
    private readonly descriptor: number,
    { first, length }: Section,
  ) {
    super({ highWaterMark: CHUNK_BYTES });
    this.position = first;
    this.left = length;
  }

  override _read(): void {
    const size = Math.min(CHUNK_BYTES, this.left);
    this.isReading = true;
    read(this.descriptor, Buffer.allocUnsafeSlow(size), 0, size, this.position, (error, count, bytes) => {
      this.isReading = false;
      if (this.destroyed) this.whenIdle?.();
      else if (error !== null) this.destroy(error);
      else if (count === 0) this.destroy(new Error("a file became shorter while it was sent"));
      else this.give(count === size ? bytes : bytes.subarray(0, count));
    });
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    const end = (): void => close(this.descriptor, (failure) => callback(error ?? failure));
    // A number that is closed under a read may be another file's by the time the read comes.
    if (this.isReading) this.whenIdle = end;
    else end();
  }

  private give(bytes: Buffer): void {
    this.position += bytes.length;
    this.left -= bytes.length;
    this.push(bytes);
    if (this.left === 0) this.push(null);
  }
}
