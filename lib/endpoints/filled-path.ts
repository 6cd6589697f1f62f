/**
 * The URL of a path template: one value for each capture. A browser loads this file without the reader of templates, because the server
 * refuses a faulty template when it starts.
 *
 * @example
 * fillTemplate("/links/{id}", ["a b"]); // "/links/a%20b"
 */
import { FrameworkError } from "../errors/framework-error.js";
import { toCanonicalSegment } from "./percent-encoding.js";

/** In order of specificity: the first is the most specific. */
export const SEGMENT_KINDS = ["literal", "capture", "catch-all"] as const;

/** One segment: a literal, a capture `{name}`, or at the end a catch-all `{*name}`. */
export interface PathSegment {
  readonly kind: (typeof SEGMENT_KINDS)[number];
  /** The canonical spelling of a literal, the name of a capture. */
  readonly text: string;
}

export const CAPTURE = /^\{(\*?)([A-Za-z_][A-Za-z0-9_]*)\}$/;

/** Fills a template that the server has checked. */
export function fillTemplate(template: string, values: readonly unknown[]): string {
  return fillSegments(template, template.slice(1).split("/").map(toSegment), values);
}

function toSegment(source: string): PathSegment {
  const [, star, text] = CAPTURE.exec(source) ?? [];
  if (text !== undefined) return { kind: star === "*" ? "catch-all" : "capture", text };
  return { kind: "literal", text: toCanonicalSegment(decodeURIComponent(source)) ?? source };
}

/** Returns the URL of the segments. Throws `E_ROUTE_PARAM` for a value that is missing, empty, `.` or `..`. */
export function fillSegments(template: string, segments: readonly PathSegment[], values: readonly unknown[]): string {
  let next = 0;
  let url = "";
  for (const segment of segments)
    url += `/${segment.kind === "literal" ? segment.text : fillSegment(template, segment, values[next++])}`;
  return url;
}

/**
 * Joins a prefix and a path with one slash between them: `/admin/` and `users` become `/admin/users`. The path `""` or `/` gives the prefix
 * itself, and the prefix `""` or `/` adds nothing. At most one slash is removed from each side: a doubled slash stays, and the template is
 * refused.
 */
export function joinPaths(prefix: string, path: string): string {
  const start = prefix.endsWith("/") ? prefix.slice(0, -1) : prefix;
  const end = path.startsWith("/") ? path.slice(1) : path;
  if (end === "") return start === "" ? "/" : start;
  return `${start}/${end}`;
}

/**
 * Returns the value of a capture as a part of a URL. A catch-all keeps its slashes, but a slash at its start is refused: the URL could
 * start with `//`, which is another host to a browser.
 */
function fillSegment(template: string, { kind, text: name }: PathSegment, value: unknown): string {
  const text = toParameterText(value);
  if (text === undefined)
    throw createValueError(template, name, value === undefined ? "is missing" : `is ${describeType(value)}`);
  if (text === "") throw createValueError(template, name, "is empty");
  if (kind === "capture") return encode(template, name, text);
  if (text.startsWith("/")) throw createValueError(template, name, "starts with a slash");
  return text
    .split("/")
    .map((part) => encode(template, name, part))
    .join("/");
}

function encode(template: string, name: string, text: string): string {
  if (text === "." || text === "..")
    throw createValueError(template, name, `is "${text}", which clients resolve before they ask`);
  try {
    return encodeURIComponent(text);
  } catch {
    throw createValueError(template, name, "contains half of a surrogate pair");
  }
}

function toParameterText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean") return String(value);
  return undefined;
}

function describeType(value: unknown): string {
  if (value === null) return "null";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function createValueError(template: string, name: string, reason: string): FrameworkError {
  return createParameterError(`the parameter "${name}" of "${template}" ${reason}`);
}

export function createParameterError(detail: string): FrameworkError {
  return new FrameworkError(detail, { code: "E_ROUTE_PARAM" });
}
