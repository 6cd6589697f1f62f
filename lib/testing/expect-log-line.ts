/**
 * Checks one line of the JSON log: its keys and their order, the form of each value, and that every value under a sensitive name is
 * redacted. Not for the text lines of `ConsoleLog`.
 *
 * @example
 * for (const line of app.logs.lines()) expectLogLine(line);
 */
import { isSensitive, REDACTED } from "../observe/logging/redaction.js";
import { createFailure, describeValue } from "./failure.js";

export interface LogLine {
  readonly timestamp: string;
  readonly level: "TRACE" | "DEBUG" | "INFO" | "WARN" | "ERROR";
  readonly target: string;
  readonly message?: string;
  /** Outermost first. */
  readonly spans?: readonly string[];
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** The keys that a line may have, and the check of each value. */
const FORMS: Readonly<Record<string, (value: unknown) => boolean>> = {
  timestamp: isTimestamp,
  level: (value) => ["TRACE", "DEBUG", "INFO", "WARN", "ERROR"].includes(String(value)),
  target: (value) => typeof value === "string" && value !== "",
  message: (value) => typeof value === "string",
  spans: (value) => Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === "string"),
  fields: (value) => isObject(value) && Object.keys(value).length > 0,
};
const REQUIRED = ["timestamp", "level", "target"];
/** `+`, `-` and `.`, as character codes. */
const PUNCTUATION: ReadonlySet<number> = new Set([0x2b, 0x2d, 0x2e]);

/**
 * Returns the parsed line.
 *
 * @throws AssertionError naming the fault and the line
 */
export function expectLogLine(line: string): LogLine {
  const value = parseLine(line);
  for (const name of REQUIRED) if (!Object.hasOwn(value, name)) throw createFault(line, `has no ${name}`);
  for (const [name, each] of Object.entries(value)) {
    const hasForm = Object.hasOwn(FORMS, name) ? FORMS[name] : undefined;
    if (hasForm === undefined)
      throw createFault(
        line,
        `has the key ${describeValue(name)}, but only these exist: ${Object.keys(FORMS).join(", ")}`,
      );
    if (!hasForm(each)) throw createFault(line, `has ${describeValue(each)} as its ${name}`);
  }
  checkKeys(line);
  // The loop above has checked each member.
  return value as unknown as LogLine;
}

function parseLine(line: string): Record<string, unknown> {
  if (/[\r\n]/.test(line)) throw createFault(line, "contains a line break");
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw createFault(line, `is not JSON (${String(error)})`);
  }
  if (!isObject(value)) throw createFault(line, "is not an object");
  return value;
}

function checkKeys(line: string): void {
  const keys = listWrittenKeys(line);
  if (keys === undefined) throw createFault(line, "has whitespace between its tokens");
  for (const { key, before, scalar } of keys) {
    if (before !== undefined && before >= key)
      throw createFault(line, `has the key ${describeValue(key)} after ${describeValue(before)}`);
    if (isSensitive(key) && scalar !== JSON.stringify(REDACTED)) {
      throw createFault(line, `does not redact the value of ${describeValue(key)}: ${scalar ?? "an object or a list"}`);
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

function createFault(line: string, what: string): Error {
  return createFailure(`the log line ${what}: ${describeValue(line)}`);
}

interface WrittenKey {
  readonly key: string;
  /** The key before it in the same object. */
  readonly before: string | undefined;
  /** The text of its value; `undefined` for an object and for a list. */
  readonly scalar: string | undefined;
}

/**
 * The keys of a JSON text in the order of the text; `undefined` if there is whitespace between two tokens. `JSON.parse` loses this order,
 * and the first of two equal keys. No regular expression: on a long string it can exceed the stack.
 *
 * @param text valid JSON
 */
function listWrittenKeys(text: string): readonly WrittenKey[] | undefined {
  const keys: WrittenKey[] = [];
  /** The last key of each open object, the innermost object at the end. */
  const last: (string | undefined)[] = [];
  for (let at = 0; at < text.length;) {
    const end = findTokenEnd(text, at);
    const token = text.slice(at, end);
    if (token.trim() === "") return undefined;
    if (token === "{") last.push(undefined);
    else if (token === "}") last.pop();
    else if (text[end] === ":") {
      // In valid JSON the token before a colon is a string.
      const key = JSON.parse(token) as string;
      keys.push({ key, before: last.at(-1), scalar: readScalar(text, end + 1) });
      last[last.length - 1] = key;
    }
    at = end;
  }
  return keys;
}

function readScalar(text: string, start: number): string | undefined {
  return text[start] === "{" || text[start] === "[" ? undefined : text.slice(start, findTokenEnd(text, start));
}

function findTokenEnd(text: string, start: number): number {
  if (text[start] === '"') return findStringEnd(text, start);
  let end = start + 1;
  if (!isPlain(text.charCodeAt(start))) return end;
  while (end < text.length && isPlain(text.charCodeAt(end))) end += 1;
  return end;
}

function findStringEnd(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (isEscaped(text, quote)) quote = text.indexOf('"', quote + 1);
  return quote + 1;
}

function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text[first - 1] === "\\") first -= 1;
  return (at - first) % 2 === 1;
}

/** A character of a number, of `true`, `false` or `null`: a digit, a letter, `+`, `-` or `.`. */
function isPlain(code: number): boolean {
  const lower = code | 0x20;
  return (code >= 0x30 && code <= 0x39) || (lower >= 0x61 && lower <= 0x7a) || PUNCTUATION.has(code);
}
