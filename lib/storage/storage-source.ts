/**
 * The content that is stored, as checked chunks of bytes: each chunk is text or bytes, the number of bytes is the announced one, and the
 * wait for the next chunk ends with the signal. Nothing is read ahead.
 *
 * A source that is not read to its end is closed, but a request of a client is not: the framework still sends its response.
 */
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { BadRequestError } from "../errors/framework-error.js";
import { nodeHttp } from "../runtime/node-http.js";
import { wrongSize } from "./storage-errors.js";

/** Content that can be stored: text, bytes, a stream of them, or an async iterable. */
export type StorageInput = string | Uint8Array | AsyncIterable<unknown>;

/** The bytes of whole content, or the chunks of a stream. @throws BadRequestError `E_STORAGE_CONTENT`, `E_STORAGE_SIZE` */
export function toSource(
  input: StorageInput,
  size: number | undefined,
  signal: AbortSignal | undefined,
): Uint8Array | CheckedChunks {
  const whole = typeof input === "string" ? Buffer.from(input) : input;
  if (whole instanceof Uint8Array) {
    if (size !== undefined && whole.byteLength !== size) throw wrongSize(size, whole.byteLength > size);
    return whole;
  }
  if (typeof whole === "object" && whole !== null && Symbol.asyncIterator in whole)
    return new CheckedChunks(whole, size, signal);
  throw wrongContent();
}

/** Settles as `work`. Where the content was refused before it was read, an open file or connection behind it would stay open. */
export async function closeAfterRefusal<T>(work: Promise<T>, input: StorageInput): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (input instanceof Readable && !isClientRequest(input)) input.on("error", () => {}).destroy();
    throw error;
  }
}

class CheckedChunks implements AsyncIterableIterator<Uint8Array> {
  private readonly chunks: AsyncIterator<unknown>;
  private count = 0;
  private hasEnded = false;
  /** Ends the wait for a chunk. */
  private interrupt: ((reason: unknown) => void) | undefined = undefined;
  private readonly aborted = (): void => this.interrupt?.(this.signal?.reason);

  constructor(
    private readonly source: AsyncIterable<unknown>,
    private readonly size: number | undefined,
    private readonly signal: AbortSignal | undefined,
  ) {
    this.chunks =
      source instanceof nodeHttp.IncomingMessage
        ? source.iterator({ destroyOnReturn: false })
        : source[Symbol.asyncIterator]();
    // A stream that fails before it is read would end the process.
    if (source instanceof Readable) source.on("error", () => {});
    signal?.addEventListener("abort", this.aborted, { once: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    if (this.hasEnded) return { done: true, value: undefined };
    try {
      this.signal?.throwIfAborted();
      const step = await this.nextChunk();
      if (step.done !== true) return { done: false, value: this.checkChunk(step.value) };
      if (this.size !== undefined && this.count < this.size) throw wrongSize(this.size, false);
      this.finish();
      return { done: true, value: undefined };
    } catch (error) {
      this.close();
      // When a client leaves, its stream fails and the signal aborts. The reason of the signal is more precise.
      throw this.signal?.aborted === true ? this.signal.reason : error;
    }
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    this.close();
    return { done: true, value: undefined };
  }

  private nextChunk(): Promise<IteratorResult<unknown>> {
    if (this.signal === undefined) return this.chunks.next();
    return new Promise((resolve, reject) => {
      this.interrupt = reject;
      this.chunks.next().then(resolve, reject);
    });
  }

  private checkChunk(chunk: unknown): Uint8Array {
    const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
    if (!(bytes instanceof Uint8Array)) throw wrongContent();
    this.count += bytes.byteLength;
    if (this.size !== undefined && this.count > this.size) throw wrongSize(this.size, true);
    return bytes;
  }

  private finish(): void {
    this.hasEnded = true;
    this.interrupt = undefined;
    this.signal?.removeEventListener("abort", this.aborted);
  }

  /** Does not wait for the source, which may be at work for a long time. */
  private close(): void {
    if (this.hasEnded) return;
    this.finish();
    // While a stream waits for a chunk, the end of its iterator waits too.
    if (this.source instanceof Readable && !isClientRequest(this.source)) this.source.destroy();
    this.chunks.return?.().catch(() => {});
  }
}

/** Whether it is a request to this process. The response of another server has no method. */
function isClientRequest(source: unknown): source is IncomingMessage {
  return source instanceof nodeHttp.IncomingMessage && typeof source.method === "string";
}

function wrongContent(): BadRequestError {
  return new BadRequestError("a storage stores text, bytes, or a stream of text and bytes", {
    code: "E_STORAGE_CONTENT",
  });
}
