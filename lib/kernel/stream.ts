/** Telling Node's readable streams apart from everything else, also those of another copy of the stream package. */
import { Readable, Transform } from "node:stream";

export function isStream(value: unknown): value is Readable {
  if (value instanceof Readable) return true;
  if (typeof value !== "object" || value === null) return false;
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

/** Whether a chunk of a stream of objects can be sent as it is. */
export function isSendable(chunk: unknown): chunk is string | Uint8Array {
  return typeof chunk === "string" || chunk instanceof Uint8Array;
}

export function unsendable(chunk: unknown): TypeError {
  return new TypeError(`a stream that was answered with gave a chunk that is neither text nor bytes: ${typeof chunk}`);
}

/** Lets text and bytes of a stream of objects through; anything else is an error, and not an exception inside Node. */
export function sendableOnly(): Transform {
  return new Transform({
    writableObjectMode: true,
    transform(chunk: unknown, _encoding, done) {
      if (isSendable(chunk)) done(null, chunk);
      else done(unsendable(chunk));
    },
  });
}
