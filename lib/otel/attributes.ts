/**
 * A span's fields as attributes: strings, booleans and finite numbers as they are, lists of one of these kinds as lists, anything else
 * as the text the JSON log has for it. Nothing is withheld here (specification 2.5, table of channels): what must not leave the
 * process must not be a field of a span.
 */
import type { AttributeValue, Span } from "@opentelemetry/api";
import type { Fields } from "../tracing/tracing.js";
import { bounded, boundedCopy, MAX_TEXT, shownText, type Keep } from "./shown-text.js";

/** A span takes so many; the SDK counts what is beyond in `dropped_attributes_count`. */
export const MAX_ATTRIBUTES = 128;
const MAX_ELEMENTS = 128;
const UNREADABLE = "[unreadable]";

/** @param keep what becomes of texts; a slice of something large must not keep it alive until it is sent, so they are copied */
export function setAttributes(span: Span, fields: Fields, keep: Keep = boundedCopy): void {
  for (const name of Object.keys(fields)) {
    const value = attributeOf(fields[name], keep);
    if (value !== undefined) span.setAttribute(bounded(name), value);
  }
}

/** `undefined` for what the log leaves out, too. */
export function attributeOf(value: unknown, keep: Keep = boundedCopy): AttributeValue | undefined {
  switch (typeof value) {
    case "string":
      return keep(value);
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value : "null";
    case "bigint":
      return Number.isSafeInteger(Number(value)) ? Number(value) : bounded(`${value}`);
    case "object":
      return ofObject(value);
    default:
      return undefined;
  }
}

function ofObject(value: object | null): AttributeValue | undefined {
  try {
    return listOf(value) ?? shownText(value);
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
  return lengthOf(list) <= MAX_TEXT ? list.map(boundedCopy) : undefined;
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((length, text) => length + text.length, 0);
}

function isFiniteNumber(value: unknown): value is number {
  return Number.isFinite(value);
}
