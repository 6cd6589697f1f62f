/**
 * Streams as bodies: how to recognise them, how to keep an early error from ending the process, and how to make each of them sendable. A
 * stream is recognised by its methods, since its class may come from another copy of the stream package or be of the old kind. The
 * properties of its state may then be missing.
 */
import { toBytes, discardIterable, isAsyncIterable } from "./iterable-stream.js";
import { isBytes, isWebStream } from "./web-values.js";
import { Readable, pipeline, Transform, type TransformCallback } from "node:stream";

export function isStream(value: unknown): value is Readable {
  if (typeof value !== "object" || value === null) return false;
  if (value instanceof Readable) return true;
  const candidate = value as { pipe?: unknown; on?: unknown; destroy?: unknown };
  return (
    typeof candidate.pipe === "function" &&
    typeof candidate.on === "function" &&
    typeof candidate.destroy === "function"
  );
}

/** Destroys a body that is not read, so that its source is closed. */
export function discardBody(body: unknown): void {
  if (isStream(body)) {
    body.once("error", () => {});
    body.destroy();
  } else if (isWebStream(body)) {
    if (!body.locked) Promise.resolve(body.cancel()).catch(() => {});
  } else if (isAsyncIterable(body)) {
    discardIterable(body);
  }
}

/**
 * Adds a listener for errors that does nothing. Stages may wait between the moment a stream becomes the body and the moment it is read.
 * Without a listener, an error in that time would end the process. The reader of the stream still sees the failure.
 */
export function ignoreEarlyErrors(stream: Readable): void {
  stream.on("error", ignore);
}

function ignore(): void {}

/** Returns the error of a stream that failed or was destroyed before its end; `undefined` for any other stream. */
export function findStreamError(stream: Readable): Error | undefined {
  const { errored, destroyed, readableEnded }: Partial<Readable> = stream;
  if (errored !== undefined && errored !== null) return errored;
  const isDestroyedEarly = destroyed && !readableEnded;
  return isDestroyedEarly ? new Error("a handler returned a stream that was destroyed before it was read") : undefined;
}

/**
 * Returns a stream of text and bytes. Node checks the chunks of its byte streams. For any other stream, another one in front of it checks
 * the chunks, because a wrong chunk would be an exception inside Node, which ends the process. The stream in front reads nothing before it
 * is read itself. Every body that is a stream passes here before the socket or an encoder reads it.
 * @throws TypeError for a stream that can only be written to
 */
export function toSendable(stream: Readable): Readable {
  if (stream instanceof Readable && !stream.readableObjectMode) return stream;
  if (isOnlyWritable(stream))
    throw new TypeError("a stream that can only be written to cannot be sent: return one that is read");
  const checkedStream = new SendableStream(stream);
  ignoreEarlyErrors(checkedStream);
  return checkedStream;
}

/** Node's writable streams also have a method `pipe`. Streams of the old kind have no `read`, but `readable` is true. */
function isOnlyWritable(stream: object): boolean {
  const { write, read, readable } = stream as { write?: unknown; read?: unknown; readable?: unknown };
  return typeof write === "function" && typeof read !== "function" && readable !== true;
}

class SendableStream extends Transform {
  private isStarted = false;

  constructor(private readonly source: Readable) {
    super({ writableObjectMode: true });
    const failure = findStreamError(source);
    if (failure !== undefined) this.destroy(failure);
    else source.once("error", (error) => this.destroy(error));
  }

  override _read(size: number): void {
    if (!this.isStarted) {
      this.isStarted = true;
      // The reader of this stream sees the error.
      pipeline(this.source, this, () => {});
    }
    super._read(size);
  }

  override _transform(chunk: unknown, _encoding: BufferEncoding, done: TransformCallback): void {
    if (typeof chunk === "string" || chunk instanceof Uint8Array) done(null, chunk);
    else if (isBytes(chunk)) done(null, toBytes(chunk));
    else done(new TypeError(`a stream that is the body gave a chunk that is neither text nor bytes: ${typeof chunk}`));
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.isStarted) discardBody(this.source);
    super._destroy(error, done);
  }
}
