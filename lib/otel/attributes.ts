/**
 * A span's fields as attributes: strings, booleans and finite numbers as they are, lists of one of these kinds as lists, anything else
 * as the text the JSON log has for it. Nothing is withheld here (specification 2.5, table of channels): what must not leave the
 * process must not be a field of a span.
 */
import type { AttributeValue, Span } from "@opentelemetry/api";
import { FieldWriter } from "../observe/logging/json-fields.js";
import { isSensitive } from "../observe/logging/redaction.js";
import type { Fields } from "../tracing/tracing.js";

// Anything as the text that the JSON log shows for it, but strings without quotation marks, and not without end.

/** UTF-16 code units. */
export const MAX_TEXT_LENGTH = 4096;

const NOTHING_IS_SENSITIVE = () => false;
const writer = new FieldWriter(NOTHING_IS_SENSITIVE);
const redactingWriter = new FieldWriter(isSensitive);

/** What to do with a text before it is kept. */
export type Truncate = (text: string) => string;

/** `text`, cut where it is longer than `MAX_TEXT`, and never within a character. */
export function truncated(text: string): string {
  if (text.length <= MAX_TEXT_LENGTH) return text;
  const last = text.charCodeAt(MAX_TEXT_LENGTH - 1);
  return copy(text.slice(0, last >= 0xd800 && last < 0xdc00 ? MAX_TEXT_LENGTH - 1 : MAX_TEXT_LENGTH));
}

/** The same, with characters of its own: the engine keeps a string alive as a whole for as long as there is a slice of it. */
export function truncatedCopy(text: string): string {
  return text.length <= MAX_TEXT_LENGTH ? copy(text) : truncated(text);
}

// To have a slice of a sum, the engine writes the sum out; to write out a slice alone there is no way but through bytes.
function copy(text: string): string {
  return ` ${text}`.slice(1);
}

/** With nothing withheld; `undefined` for what the log leaves out. */
export function logText(value: unknown): string | undefined {
  return textBy(writer, value);
}

/** The text of a failure, secrets withheld by name: unlike the fields of a span, it was not chosen for export. */
export function failureText(error: unknown): string {
  return textBy(redactingWriter, error) ?? "";
}

function textBy(by: FieldWriter, value: unknown): string | undefined {
  if (typeof value === "string") return truncated(value);
  const json = by.value(value);
  if (json === undefined) return undefined;
  return truncated(json.startsWith('"') ? String(JSON.parse(json)) : json);
}

/** A span takes so many; the SDK counts what is beyond in `dropped_attributes_count`. */
export const MAX_ATTRIBUTES = 128;
const MAX_ELEMENTS = 128;
const UNREADABLE = "[unreadable]";

/** @param keep what becomes of texts; a slice of something large must not keep it alive until it is sent, so they are copied */
export function setAttributes(span: Span, fields: Fields, keep: Truncate = truncatedCopy): void {
  for (const name of Object.keys(fields)) {
    const value = attributeOf(fields[name], keep);
    if (value !== undefined) span.setAttribute(truncated(name), value);
  }
}

/** `undefined` for what the log leaves out, too. */
export function attributeOf(value: unknown, keep: Truncate = truncatedCopy): AttributeValue | undefined {
  switch (typeof value) {
    case "string":
      return keep(value);
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value : "null";
    case "bigint":
      return Number.isSafeInteger(Number(value)) ? Number(value) : truncated(`${value}`);
    case "object":
      return ofObject(value);
    default:
      return undefined;
  }
}

function ofObject(value: object | null): AttributeValue | undefined {
  try {
    return listOf(value) ?? logText(value);
  } catch {
    return UNREADABLE;
  }
}

function listOf(value: unknown): AttributeValue | undefined {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_ELEMENTS) return undefined;
  // Not `every`, which would not see the holes.
  const list = Array.from<unknown>(value);
  if (list.every((element) => typeof element === "string")) return listOfTexts(list);
  if (list.every((element) => typeof element === "boolean")) return list;
  return list.every(isFiniteNumber) ? list : undefined;
}

/** As text where it is long: one attribute is never longer than another. */
function listOfTexts(list: readonly string[]): AttributeValue | undefined {
  return lengthOf(list) <= MAX_TEXT_LENGTH ? list.map(truncatedCopy) : undefined;
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((length, text) => length + text.length, 0);
}

function isFiniteNumber(value: unknown): value is number {
  return Number.isFinite(value);
}
