/** Values put into the captures of a path: what they may be, how they are encoded, and how a refusal names them. */
import { FrameworkError } from "../errors/framework-error.js";
import type { PathSegment } from "./path-segment.js";

/**
 * The value as it stands in a URL. A catch-all keeps its slashes, but for one at its start: a path that then began with `//` would be
 * another host to a browser.
 */
export function fillSegment(template: string, { kind, text: name }: PathSegment, value: unknown): string {
  const text = textOf(value);
  if (text === undefined) throw refused(template, name, value === undefined ? "is missing" : `is ${typeName(value)}`);
  if (text === "") throw refused(template, name, "is empty");
  if (kind === "capture") return encode(template, name, text);
  if (text.startsWith("/")) throw refused(template, name, "starts with a slash");
  return text
    .split("/")
    .map((part) => encode(template, name, part))
    .join("/");
}

export function surplusParameter(template: string, wanted: number, given: number): FrameworkError {
  const places = [];
  for (let at = wanted + 1; at <= given; at++) places.push(`parameter ${at}`);
  return fault(`"${template}" takes ${wanted} ${wanted === 1 ? "value" : "values"}: ${places.join(", ")} is surplus`);
}

function encode(template: string, name: string, text: string): string {
  if (text === "." || text === "..")
    throw refused(template, name, `is "${text}", which clients resolve before they ask`);
  try {
    return encodeURIComponent(text);
  } catch {
    throw refused(template, name, "contains half of a surrogate pair");
  }
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean") return String(value);
  return undefined;
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function refused(template: string, name: string, what: string): FrameworkError {
  return fault(`the parameter "${name}" of "${template}" ${what}`);
}

function fault(detail: string): FrameworkError {
  return new FrameworkError(detail, { code: "E_ROUTE_PARAM" });
}
