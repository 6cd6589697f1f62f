/**
 * Writes chunks to an open file. While one write is under way, the next chunks are collected and then written at once, so that the source
 * and the disk work at the same time. At most 1 MiB is buffered. A large content is flushed while it is written, so that the flush at its
 * end is short.
 */
import type { FileHandle } from "node:fs/promises";
import { withDiskErrors } from "./disk.js";

const MAX_BUFFERED_BYTES = 1_048_576;
/** The bytes after which a flush starts. */
const FLUSH_BYTES = 33_554_432;

/** @throws the error of the source; StorageFullError; StorageUnavailableError */
export async function writeChunks(handle: FileHandle, source: Uint8Array | AsyncIterable<Uint8Array>): Promise<void> {
  const writer = new ChunkWriter(handle);
  if (source instanceof Uint8Array) writer.add(source);
  else
    for await (const chunk of source) {
      writer.add(chunk);
      if (writer.isFull) await writer.waitForDrain();
    }
  await writer.finish();
}

class ChunkWriter {
  private waiting: Uint8Array[] = [];
  private bufferedBytes = 0;
  private running: Promise<void> | undefined = undefined;
  private failure: { readonly error: unknown } | undefined = undefined;
  private unflushed = 0;
  private flushing: Promise<void> | undefined = undefined;

  constructor(private readonly handle: FileHandle) {}

  get isFull(): boolean {
    return this.bufferedBytes >= MAX_BUFFERED_BYTES || this.failure !== undefined;
  }

  add(chunk: Uint8Array): void {
    this.waiting.push(chunk);
    this.bufferedBytes += chunk.byteLength;
    this.running ??= this.writeAll();
  }

  async waitForDrain(): Promise<void> {
    await this.running;
    if (this.failure !== undefined) throw this.failure.error;
  }

  async finish(): Promise<void> {
    await this.running;
    await this.flushing;
    return this.waitForDrain();
  }

  /** Starts a flush, unless one is under way. If it fails, the write fails, because its bytes may be lost. */
  private flush(): void {
    if (this.unflushed < FLUSH_BYTES || this.flushing !== undefined) return;
    this.unflushed = 0;
    this.flushing = withDiskErrors(this.handle.datasync())
      .catch((error: unknown) => {
        this.failure ??= { error };
      })
      .finally(() => (this.flushing = undefined));
  }

  /** Never rejects: the caller may not wait yet. */
  private async writeAll(): Promise<void> {
    try {
      while (this.waiting.length > 0) {
        const chunks = this.waiting;
        this.waiting = [];
        await withDiskErrors(writeCompletely(this.handle, chunks));
        for (const chunk of chunks) {
          this.bufferedBytes -= chunk.byteLength;
          this.unflushed += chunk.byteLength;
        }
        this.flush();
      }
    } catch (error) {
      this.failure = { error };
    }
    this.running = undefined;
  }
}

/** A write may write a part only, as on a disk that is nearly full. */
async function writeCompletely(handle: FileHandle, chunks: readonly Uint8Array[]): Promise<void> {
  let rest = chunks;
  for (;;) {
    const { bytesWritten } = await handle.writev(rest as Uint8Array[]);
    rest = dropBytes(rest, bytesWritten);
    if (rest.length === 0) return;
  }
}

function dropBytes(chunks: readonly Uint8Array[], count: number): readonly Uint8Array[] {
  let left = count;
  const rest: Uint8Array[] = [];
  for (const chunk of chunks) {
    const done = Math.min(left, chunk.byteLength);
    left -= done;
    if (done < chunk.byteLength) rest.push(done === 0 ? chunk : chunk.subarray(done));
  }
  return rest;
}
