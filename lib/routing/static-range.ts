/**
 * Reads `Range` for a file (RFC 9110 section 14). One range of bytes is answered; several are not worth the multipart answer, which
 * is a known way to have a server send more than the file, so they get the whole file, as does whatever cannot be read.
 */
import type { Section } from "./static-stream.js";

const ONE_RANGE = /^bytes=(\d*)-(\d*)$/i;

/** The part that is asked for; `undefined`: the whole file. */
export function readRange(header: string | undefined, size: number): Section | "unsatisfiable" | undefined {
  const [, from, to] = ONE_RANGE.exec(header ?? "") ?? [];
  if (from === undefined || to === undefined || (from === "" && to === "")) return undefined;
  if (from === "") return lastBytes(Number(to), size);
  const first = Number(from);
  const last = to === "" ? Infinity : Number(to);
  if (last < first) return undefined;
  return first < size ? { first, length: Math.min(last, size - 1) - first + 1 } : "unsatisfiable";
}

function lastBytes(count: number, size: number): Section | "unsatisfiable" {
  if (count === 0 || size === 0) return "unsatisfiable";
  const length = Math.min(count, size);
  return { first: size - length, length };
}
