/**
 * Telling streams apart from everything else, by what they can do: also those of another copy of the stream package, and of the kind
 * that was before it. What such a stream says of itself may be missing.
 */
import { Readable } from "node:stream";

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
