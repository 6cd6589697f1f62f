/** Anything as the text that the JSON log shows for it, but strings without quotation marks, and not without end. */
import { FieldWriter } from "../observe/logging/json-fields.js";
import { isSensitive } from "../observe/logging/redaction.js";

/** UTF-16 code units. */
export const MAX_TEXT = 4096;

const NOTHING_IS_SENSITIVE = () => false;
const writer = new FieldWriter(NOTHING_IS_SENSITIVE);
const redactingWriter = new FieldWriter(isSensitive);

/** What to do with a text before it is kept. */
export type Keep = (text: string) => string;

/** `text`, cut where it is longer than `MAX_TEXT`, and never within a character. */
export function bounded(text: string): string {
  if (text.length <= MAX_TEXT) return text;
  const last = text.charCodeAt(MAX_TEXT - 1);
  return copy(text.slice(0, last >= 0xd800 && last < 0xdc00 ? MAX_TEXT - 1 : MAX_TEXT));
}

/** The same, with characters of its own: the engine keeps a string alive as a whole for as long as there is a slice of it. */
export function boundedCopy(text: string): string {
  return text.length <= MAX_TEXT ? copy(text) : bounded(text);
}

// To have a slice of a sum, the engine writes the sum out; to write out a slice alone there is no way but through bytes.
function copy(text: string): string {
  return ` ${text}`.slice(1);
}

/** With nothing withheld; `undefined` for what the log leaves out. */
export function shownText(value: unknown): string | undefined {
  return textBy(writer, value);
}

/** The text of a failure, secrets withheld by name: unlike the fields of a span, it was not chosen for export. */
export function failureText(error: unknown): string {
  return textBy(redactingWriter, error) ?? "";
}

function textBy(by: FieldWriter, value: unknown): string | undefined {
  if (typeof value === "string") return bounded(value);
  const json = by.value(value);
  if (json === undefined) return undefined;
  return bounded(json.startsWith('"') ? String(JSON.parse(json)) : json);
}
