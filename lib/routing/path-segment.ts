/**
 * One segment of a path template: a literal, a capture `{name}`, or at the end a catch-all `{*name}`.
 * Read by `Path`; nothing else needs it.
 */
import { canonicalSegment, decodedSource } from "./percent-encoding.js";

/** In order of specificity: the first is the most specific. */
export const SEGMENT_KINDS = ["literal", "capture", "catch-all"] as const;

export interface PathSegment {
  readonly kind: (typeof SEGMENT_KINDS)[number];
  /** The canonical spelling of a literal, the name of a capture. */
  readonly text: string;
}

const CAPTURE = /^\{(\*?)([A-Za-z_][A-Za-z0-9_]*)\}$/;

/** The segment, or in a word what is wrong with it. */
export function readSegment(source: string): PathSegment | string {
  const capture = CAPTURE.exec(source);
  if (capture) return { kind: capture[1] === "*" ? "catch-all" : "capture", text: capture[2] ?? "" };
  if (/[{}]/.test(source)) {
    return `"${source}" is neither a literal nor one capture such as {id} or {*rest}, which fill a whole segment`;
  }
  if (/[?#]/.test(source)) return `"${source}" contains a ? or a #: a path has no query and no fragment`;
  return readLiteral(source);
}

function readLiteral(source: string): PathSegment | string {
  const text = decodedSource(source);
  const canonical = text === undefined ? undefined : canonicalSegment(text);
  if (text === undefined || canonical === undefined) return `"${source}" is not percent-encoded UTF-8`;
  if (text === "") return "it has an empty segment";
  if (text === "." || text === "..") return `it has the segment "${source}", which clients resolve before they ask`;
  return { kind: "literal", text: canonical };
}
