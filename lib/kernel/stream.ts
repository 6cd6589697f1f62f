/** Telling Node's readable streams apart from everything else, also those of another copy of the stream package. */
import { Readable } from "node:stream";

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
