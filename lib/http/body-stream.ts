/**
 * Telling streams apart from everything else, by what they can do: also those of another copy of the stream package, and of the kind
 * that was before it. What such a stream says of itself may be missing.
 */
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

/** Lets go of a body that nobody will read, so that what is behind it is closed. */
export function discardBody(body: unknown): void {
  if (isStream(body)) {
    body.once("error", () => {});
    body.destroy();
  } else if (body instanceof ReadableStream && !body.locked) {
    body.cancel().catch(() => {});
  }
}

/**
 * Between a stream's becoming the body and its being read, stages may wait for something. One that fails in that time has nobody
 * listening, which ends the process; whoever reads it afterwards learns of the failure all the same.
 */
export function keepFailure(stream: Readable): void {
  stream.on("error", ignore);
}

function ignore(): void {}

/** Why nothing more will come from a stream that has not ended. */
export function failureOf(stream: Readable): Error | undefined {
  const { errored, destroyed, readableEnded }: Partial<Readable> = stream;
  if (errored !== undefined && errored !== null) return errored;
  const isGone = destroyed && !readableEnded;
  return isGone ? new Error("a handler returned a stream that was destroyed before it was read") : undefined;
}

// A stream whose chunks may be anything, as one that text and bytes come out of: what cannot be sent is an error of the stream here,
// where it would be an exception inside Node, which ends the process. Every body that is a stream passes by here before anything
// reads it, be it the socket or an encoder.

/**
 * `stream` where Node itself sees to its chunks, else a stream in front of it, which reads nothing before it is read.
 * @throws TypeError for a stream that can only be written to
 */
export function sendable(stream: Readable): Readable {
  if (stream instanceof Readable && !stream.readableObjectMode) return stream;
  if (isOnlyWritable(stream)) throw new TypeError("a stream that can only be written to cannot be sent");
  const gate = new SendableStream(stream);
  keepFailure(gate);
  return gate;
}

/** Node's writable streams have a `pipe`, too; streams older than `read` say that they are readable. */
function isOnlyWritable(stream: object): boolean {
  const { write, read, readable } = stream as { write?: unknown; read?: unknown; readable?: unknown };
  return typeof write === "function" && typeof read !== "function" && readable !== true;
}

class SendableStream extends Transform {
  private begun = false;

  constructor(private readonly source: Readable) {
    super({ writableObjectMode: true });
    const failure = failureOf(source);
    if (failure !== undefined) this.destroy(failure);
    else source.once("error", (error) => this.destroy(error));
  }

  override _read(size: number): void {
    if (!this.begun) {
      this.begun = true;
      // Whoever reads this one sees the error; here is nothing to add.
      pipeline(this.source, this, () => {});
    }
    super._read(size);
  }

  override _transform(chunk: unknown, _encoding: BufferEncoding, done: TransformCallback): void {
    if (typeof chunk === "string" || chunk instanceof Uint8Array) done(null, chunk);
    else
      done(
        new TypeError(`a stream that was answered with gave a chunk that is neither text nor bytes: ${typeof chunk}`),
      );
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.begun) discardBody(this.source);
    super._destroy(error, done);
  }
}
