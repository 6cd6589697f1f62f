/**
 * The calls of the file system that serving a file needs, as promises. A path that leads nowhere, or where the process may not go,
 * is `undefined`; anything else that goes wrong (no descriptors left, a broken disk) is thrown.
 */
import { close, constants, fstat, open, read, realpath, stat, type Stats } from "node:fs";
import { Readable } from "node:stream";

/** Without the flag, opening a pipe would wait for someone to write into it; Windows has neither. */
const READ_ONLY = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

const NOT_THERE: ReadonlySet<string | undefined> = new Set([
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

export function statOf(path: string): Promise<Stats | undefined> {
  return new Promise((resolve, reject) => stat(path, unlessAbsent(resolve, reject)));
}

/** The path without links. */
export function realPathOf(path: string): Promise<string | undefined> {
  return new Promise((resolve, reject) => realpath.native(path, unlessAbsent(resolve, reject)));
}

/** A descriptor for reading; the caller closes it. */
export function openFile(path: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => open(path, READ_ONLY, unlessAbsent(resolve, reject)));
}

/** Closes the descriptor where that fails. */
export function statOfOpen(descriptor: number): Promise<Stats> {
  return new Promise((resolve, reject) =>
    fstat(descriptor, (error, stats) => {
      if (error === null) resolve(stats);
      else close(descriptor, () => reject(error));
    }),
  );
}

/** The first `size` bytes; fewer where the file ends before. */
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

function unlessAbsent<T>(resolve: (value: T | undefined) => void, reject: (error: Error) => void): Callback<T> {
  return (error, value) => {
    if (error === null) resolve(value);
    else if (NOT_THERE.has(error.code)) resolve(undefined);
    else reject(error);
  };
}

// A part of an open file as a stream of a length that was promised already: a file that turns out shorter is an error, so that the
// client sees a cut answer and never waits for the rest. The descriptor is closed at the end, and at once when the stream is
// destroyed.

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
