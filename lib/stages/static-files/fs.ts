/**
 * The calls of the file system that the static files need, as promises, and a section of an open file as a stream. A path that does
 * not exist or that the process may not read gives `undefined`. Other failures (no free descriptor, a broken disk) are thrown.
 */
import { close, constants, fstat, open, read, realpath, stat, type Stats } from "node:fs";
import { Readable } from "node:stream";
import type { Section } from "../../http/response/conditions.js";

/** Without `O_NONBLOCK`, opening a pipe waits for a writer. Windows has neither pipes in the file system nor the flag. */
const READ_ONLY = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

const ABSENT_CODES: ReadonlySet<string | undefined> = new Set([
  "ENOENT",
  "ENOTDIR",
  "ENAMETOOLONG",
  "ELOOP",
  "EACCES",
  "EPERM",
  "EINVAL",
  "EISDIR",
  "ENXIO",
]);

type Callback<T> = (error: NodeJS.ErrnoException | null, value: T) => void;

export function findStats(path: string): Promise<Stats | undefined> {
  return new Promise((resolve, reject) => stat(path, absentAsUndefined(resolve, reject)));
}

/** The path with all symbolic links followed. */
export function findRealPath(path: string): Promise<string | undefined> {
  return new Promise((resolve, reject) => realpath.native(path, absentAsUndefined(resolve, reject)));
}

/** A descriptor for reading; the caller closes it. */
export function openFile(path: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => open(path, READ_ONLY, absentAsUndefined(resolve, reject)));
}

/** Closes the descriptor if it fails. */
export function readOpenStats(descriptor: number): Promise<Stats> {
  return new Promise((resolve, reject) =>
    fstat(descriptor, (error, stats) => {
      if (error === null) resolve(stats);
      else close(descriptor, () => reject(error));
    }),
  );
}

/** The first `size` bytes, or fewer if the file is shorter. */
export async function readAndClose(descriptor: number, size: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(size);
  let at = 0;
  try {
    for (let count = -1; at < size && count !== 0; at += count) count = await readInto(descriptor, bytes, at);
  } finally {
    await closeFile(descriptor);
  }
  return bytes.subarray(0, at);
}

export function closeFile(descriptor: number): Promise<void> {
  return new Promise((resolve, reject) => close(descriptor, (error) => (error ? reject(error) : resolve())));
}

function readInto(descriptor: number, bytes: Buffer, at: number): Promise<number> {
  return new Promise((resolve, reject) =>
    read(descriptor, bytes, at, bytes.length - at, at, (error, count) =>
      error === null ? resolve(count) : reject(error),
    ),
  );
}

function absentAsUndefined<T>(resolve: (value: T | undefined) => void, reject: (error: Error) => void): Callback<T> {
  return (error, value) => {
    if (error === null) resolve(value);
    else if (ABSENT_CODES.has(error.code)) resolve(undefined);
    else reject(error);
  };
}

/** Large enough that the cost of the thread pool is small, and small enough for many slow clients. */
const CHUNK_BYTES = 131_072;

/**
 * A section of an open file as a stream of exactly the announced length. If the file is shorter, the stream fails, so that the client sees
 * a truncated response and does not wait for the rest. The descriptor is closed at the end, and also if the stream is destroyed.
 */
export class FileStream extends Readable {
  private isReading = false;
  private onIdle: (() => void) | undefined;

  private position: number;
  private remaining: number;

  /** @param section at least one byte of the open file `descriptor` */
  constructor(
    private readonly descriptor: number,
    { first, length }: Section,
  ) {
    super({ highWaterMark: CHUNK_BYTES });
    this.position = first;
    this.remaining = length;
  }

  override _read(): void {
    const size = Math.min(CHUNK_BYTES, this.remaining);
    this.isReading = true;
    read(this.descriptor, Buffer.allocUnsafeSlow(size), 0, size, this.position, (error, count, bytes) => {
      this.isReading = false;
      if (this.destroyed) this.onIdle?.();
      else if (error !== null) this.destroy(error);
      else if (count === 0) this.destroy(new Error("a file became shorter while it was sent"));
      else this.deliver(count === size ? bytes : bytes.subarray(0, count));
    });
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    const closeDescriptor = (): void => close(this.descriptor, (failure) => callback(error ?? failure));
    // After a close the system may reuse the number for another file, and a running read would read that file.
    if (this.isReading) this.onIdle = closeDescriptor;
    else closeDescriptor();
  }

  private deliver(bytes: Buffer): void {
    this.position += bytes.length;
    this.remaining -= bytes.length;
    this.push(bytes);
    if (this.remaining === 0) this.push(null);
  }
}
