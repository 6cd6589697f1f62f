/**
 * Judges one line of the log against the format of the specification (section 2.3): the keys and their order, the forms of their values,
 * and that nothing stands under a name that is to be withheld.
 *
 * @example
 * for (const line of app.logs.lines()) expectLogLine(line);
 */
import { isSensitive, REDACTED } from "../observe/logging/redaction.js";
import { failure, shown } from "./failure.js";

/**
 * Walks the text of one JSON value and tells where its keys stand, in the order in which they were written; `JSON.parse` forgets that
 * order, and the first of two equal keys. By hand, because strings may be of any length, and a regular expression has a stack.
 */
export interface WrittenKey {
  readonly key: string;
  /** The key before it in the same object. */
  readonly before: string | undefined;
  /** The text of its value, where that is no object and no list. */
  readonly scalar: string | undefined;
}

/** @param text valid JSON; `undefined` is answered where there are blanks between its tokens. */
export function writtenKeys(text: string): readonly WrittenKey[] | undefined {
  const keys: WrittenKey[] = [];
  const last: (string | undefined)[] = [];
  for (let at = 0; at < text.length;) {
    const end = endOfToken(text, at);
    const token = text.slice(at, end);
    if (token.trim() === "") return undefined;
    if (token === "{") last.push(undefined);
    else if (token === "}") last.pop();
    else if (text[end] === ":") {
      // A string in a text that is valid JSON.
      const key = JSON.parse(token) as string;
      keys.push({ key, before: last.at(-1), scalar: scalarAt(text, end + 1) });
      last[last.length - 1] = key;
    }
    at = end;
  }
  return keys;
}

function scalarAt(text: string, start: number): string | undefined {
  return text[start] === "{" || text[start] === "[" ? undefined : text.slice(start, endOfToken(text, start));
}

function endOfToken(text: string, start: number): number {
  if (text[start] === '"') return endOfString(text, start);
  let end = start + 1;
  if (!isPlain(text.charCodeAt(start))) return end;
  while (end < text.length && isPlain(text.charCodeAt(end))) end += 1;
  return end;
}

function endOfString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (isEscaped(text, quote)) quote = text.indexOf('"', quote + 1);
  return quote + 1;
}

function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text[first - 1] === "\\") first -= 1;
  return (at - first) % 2 === 1;
}

/** What numbers, `true`, `false` and `null` are written with: digits, letters, `+`, `-`, `.`. */
function isPlain(code: number): boolean {
  const lower = code | 0x20;
  return (code >= 0x30 && code <= 0x39) || (lower >= 0x61 && lower <= 0x7a) || PUNCTUATION.has(code);
}

const PUNCTUATION: ReadonlySet<number> = new Set([0x2b, 0x2d, 0x2e]);

export interface LogLine {
  readonly timestamp: string;
  readonly level: "TRACE" | "DEBUG" | "INFO" | "WARN" | "ERROR";
  readonly target: string;
  readonly message?: string;
  /** Outermost first. */
  readonly spans?: readonly string[];
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** What each key must hold; the first three must be there. */
const FORMS: Readonly<Record<string, (value: unknown) => boolean>> = {
  timestamp: isTimestamp,
  level: (value) => ["TRACE", "DEBUG", "INFO", "WARN", "ERROR"].includes(String(value)),
  target: (value) => typeof value === "string" && value !== "",
  message: (value) => typeof value === "string",
  spans: (value) => Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === "string"),
  fields: (value) => isObject(value) && Object.keys(value).length > 0,
};
const REQUIRED = ["timestamp", "level", "target"];

/**
 * Returns what the line says.
 *
 * @throws AssertionError naming what is wrong, and the line.
 */
export function expectLogLine(line: string): LogLine {
  const value = parsed(line);
  for (const name of REQUIRED) if (!Object.hasOwn(value, name)) throw wrong(line, `has no ${name}`);
  for (const [name, each] of Object.entries(value)) {
    const isOfForm = Object.hasOwn(FORMS, name) ? FORMS[name] : undefined;
    if (isOfForm === undefined)
      throw wrong(line, `has a key ${shown(name)}, which is none of ${Object.keys(FORMS).join(", ")}`);
    if (!isOfForm(each)) throw wrong(line, `has ${shown(each)} as its ${name}`);
  }
  checkKeys(line);
  // Each member was held against its form.
  return value as unknown as LogLine;
}

function parsed(line: string): Record<string, unknown> {
  if (/[\r\n]/.test(line)) throw wrong(line, "has a line break in it");
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw wrong(line, `is not JSON (${String(error)})`);
  }
  if (!isObject(value)) throw wrong(line, "is not an object");
  return value;
}

function checkKeys(line: string): void {
  const keys = writtenKeys(line);
  if (keys === undefined) throw wrong(line, "has blanks between its tokens");
  for (const { key, before, scalar } of keys) {
    if (before !== undefined && before >= key) throw wrong(line, `has the key ${shown(key)} after ${shown(before)}`);
    if (isSensitive(key) && scalar !== JSON.stringify(REDACTED)) {
      throw wrong(line, `shows what stands under ${shown(key)}: ${scalar ?? "an object or a list"}`);
    }
  }
}

function isTimestamp(value: unknown): boolean {
  if (typeof value !== "string" || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value)) return false;
  return !Number.isNaN(Date.parse(value));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function wrong(line: string, what: string): Error {
  return failure(`the log line ${what}: ${shown(line)}`);
}
