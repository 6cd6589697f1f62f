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
