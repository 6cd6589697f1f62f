/**
 * An async iterable as the body of a response: text and bytes as they are, other values as JSON lines. It asks the iterator for the next
 * value only when the client has taken the values before it, and calls the iterator's `return` when the body is not read to its end.
 */
import { Readable } from "node:stream";
import { FrameworkError } from "../../errors/framework-error.js";
import { tracing } from "../../tracing/tracing.js";
import { toJsonText } from "./json-text.js";
import { BYTES, TEXT } from "./media-type.js";
import { isBytes } from "./web-values.js";

const log = tracing.target("framework::http::send");

/** One JSON text a line. No media type for it is registered. Clients know the `x-` name (RFC 6838 section 3.4). */
const JSON_LINES = "application/x-ndjson";

export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  if (typeof value !== "object" || value === null) return false;
  return typeof (value as Partial<AsyncIterable<unknown>>)[Symbol.asyncIterator] === "function";
}

/** Calls the `return` of an iterable that is not read. */
export function discardIterable(iterable: AsyncIterable<unknown>): void {
  closeIterator(iterable[Symbol.asyncIterator]());
}

export class IterableStream extends Readable {
  /** The media type, which follows from the first value. */
  inferredType: string | undefined = undefined;
  private readonly values: AsyncIterator<unknown>;
  private isReading = false;
  /** Whether the iterator has ended, or is not asked for more values. */
  isEnded = false;

  /** @param decidesType whether the first value decides the media type of the response */
  constructor(
    source: AsyncIterable<unknown>,
    readonly decidesType = false,
  ) {
    super();
    this.values = source[Symbol.asyncIterator]();
  }

  override _read(): void {
    if (this.isReading || this.isEnded) return;
    this.isReading = true;
    void this.pull();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    // This does not wait for the iterator, which may work for a long time.
    this.stopReading();
    done(error);
  }

  /** Ends the body in order, before the iterator has ended. */
  protected finish(): void {
    if (this.isEnded) return;
    this.stopReading();
    this.push(null);
  }

  /** @throws TypeError for a value that cannot be sent, which ends the body */
  protected encode(value: unknown): string | Uint8Array {
    const item = isBytes(value) ? toBytes(value) : value;
    const isTextOrBytes = typeof item === "string" || item instanceof Uint8Array;
    this.inferredType ??= isTextOrBytes ? (typeof item === "string" ? TEXT : BYTES) : JSON_LINES;
    // A text between JSON lines would not belong to any line.
    if (isTextOrBytes === (this.inferredType === JSON_LINES))
      throw new TypeError("an async iterable that is the body mixes text or bytes with other values; give one kind");
    return isTextOrBytes ? item : `${toJsonText(item)}\n`;
  }

  private async pull(): Promise<void> {
    try {
      for (let wantsMore = true; wantsMore;) {
        const step = await this.values.next();
        if (this.isEnded) return;
        if (step.done === true) return this.complete();
        wantsMore = this.push(this.encode(step.value));
      }
      this.isReading = false;
    } catch (error) {
      if (!this.isEnded) this.destroy(toError(error));
    }
  }

  private complete(): void {
    this.isEnded = true;
    this.push(null);
  }

  private stopReading(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    closeIterator(this.values);
  }
}

function closeIterator(iterator: AsyncIterator<unknown>): void {
  try {
    void Promise.resolve(iterator.return?.()).catch(reportLate);
  } catch (error) {
    reportLate(error);
  }
}

/** The response is closed. An error of the framework is not logged: the framework raised it itself. */
function reportLate(error: unknown): void {
  if (!(error instanceof FrameworkError)) log.warn("late failure", { error });
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error
    ? thrown
    : new Error("an async iterable failed with a value that is not an Error", { cause: thrown });
}

export function toBytes(value: ArrayBufferView | ArrayBufferLike): Buffer {
  return ArrayBuffer.isView(value) ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : Buffer.from(value);
}
