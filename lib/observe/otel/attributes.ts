/**
 * Span fields as OpenTelemetry attributes. Strings, booleans, finite numbers and lists of one of these kinds keep their type; any other
 * value becomes the text that the JSON log shows for it. Fields are not redacted: a value that must not leave the process must not be a
 * field of a span.
 */
import type { AttributeValue, Span } from "@opentelemetry/api";
import { FieldWriter } from "../logging/json-fields.js";
import { isSensitive } from "../logging/redaction.js";
import type { Fields } from "../../tracing/subscriber.js";

/** The longest text, in UTF-16 code units. */
export const MAX_TEXT_LENGTH = 4096;
/** The SDK counts further attributes of a span in `dropped_attributes_count`. */
export const MAX_ATTRIBUTES = 128;
const MAX_ELEMENTS = 128;
const UNREADABLE = "[unreadable]";

const writer = new FieldWriter(() => false);
const redactingWriter = new FieldWriter(isSensitive);

type Truncate = (text: string) => string;

/**
 * @param truncate shortens a string field; the default also copies it, because a slice of a large string keeps the whole string in memory
 *   until the span is sent
 */
export function setAttributes(span: Span, fields: Fields, truncate: Truncate = copyTruncated): void {
  for (const name of Object.keys(fields)) {
    const value = toAttribute(fields[name], truncate);
    if (value !== undefined) span.setAttribute(truncateText(name), value);
  }
}

/** `undefined` for a value that the JSON log leaves out, such as a function. */
export function toAttribute(value: unknown, truncate: Truncate = copyTruncated): AttributeValue | undefined {
  switch (typeof value) {
    case "string":
      return truncate(value);
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value : "null";
    case "bigint":
      return Number.isSafeInteger(Number(value)) ? Number(value) : truncateText(`${value}`);
    case "object":
      return toObjectAttribute(value);
    default:
      return undefined;
  }
}

function toObjectAttribute(value: object | null): AttributeValue | undefined {
  try {
    return toListAttribute(value) ?? toLogText(writer, value);
  } catch {
    return UNREADABLE;
  }
}

/** `undefined` for a value that is not a list of one kind, or that is too long for a list. */
function toListAttribute(value: unknown): AttributeValue | undefined {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_ELEMENTS) return undefined;
  // A copy without holes, because `every` skips holes.
  const list = Array.from<unknown>(value);
  if (list.every((element) => typeof element === "string")) return toTextsAttribute(list);
  if (list.every((element) => typeof element === "boolean")) return list;
  return list.every((element): element is number => Number.isFinite(element)) ? list : undefined;
}

/** `undefined` if the texts together are longer than one text may be. */
function toTextsAttribute(texts: readonly string[]): AttributeValue | undefined {
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  return length <= MAX_TEXT_LENGTH ? texts.map(copyTruncated) : undefined;
}

/** The text of an error, redacted by name: unlike a field, an error is not written for export. */
export function describeError(error: unknown): string {
  return toLogText(redactingWriter, error) ?? "";
}

/** The text that the JSON log shows for a value; a string has no quotation marks. */
function toLogText(fieldWriter: FieldWriter, value: unknown): string | undefined {
  if (typeof value === "string") return truncateText(value);
  const json = fieldWriter.value(value);
  if (json === undefined) return undefined;
  return truncateText(json.startsWith('"') ? String(JSON.parse(json)) : json);
}

/** Shortens a text to `MAX_TEXT_LENGTH`, without cutting a surrogate pair. */
export function truncateText(text: string): string {
  if (text.length <= MAX_TEXT_LENGTH) return text;
  const last = text.charCodeAt(MAX_TEXT_LENGTH - 1);
  return copyText(text.slice(0, last >= 0xd800 && last < 0xdc00 ? MAX_TEXT_LENGTH - 1 : MAX_TEXT_LENGTH));
}

function copyTruncated(text: string): string {
  return text.length <= MAX_TEXT_LENGTH ? copyText(text) : truncateText(text);
}

/** A string that shares no memory with a larger one: V8 flattens a concatenated string into a new one before it slices it. */
function copyText(text: string): string {
  return ` ${text}`.slice(1);
}
