/** The media type of a request or a response, and the kinds of content that may have it. */
import type { ManifestKind } from "./manifest.js";

/** RFC 9457. */
export const PROBLEM_TYPE = "application/problem+json";

/** Returns the media type in lower case, without its parameters. */
export function getMediaType(headers: Headers): string {
  return (headers.get("content-type") ?? "").replace(/;.*/s, "").trim().toLowerCase();
}

/** The content of a response whose endpoint declares none. */
export function guessKind(type: string): ManifestKind {
  if (type === "") return "none";
  if (hasType("events", type)) return "events";
  if (hasType("json", type)) return "json";
  return type.startsWith("text/") ? "text" : "bytes";
}

/** Whether a response has the declared content: a proxy may respond with a page where JSON is declared. */
export function hasType(kind: ManifestKind, type: string): boolean {
  if (kind === "json") return /^application\/json$|\+json$/.test(type);
  return kind !== "events" || type === "text/event-stream";
}
