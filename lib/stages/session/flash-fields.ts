/**
 * The flash as values of a session. Each message, text and bag is a separate value, so that two requests of one visitor can both add one.
 * Read as a whole they are the list `_flash` and the map `_flash_data`.
 */
import { randomBytes } from "node:crypto";
import type { FormFields } from "../../http/body/form-fields.js";
import { DENY_LIST, RedactionPatterns } from "../../observe/logging/redaction.js";
import {
  FLASH_LEVELS,
  NO_FLASH,
  type FieldMessages,
  type FlashContent,
  type FlashLevel,
  type FlashMessage,
} from "./flash-port.js";

const MESSAGE = "_flash.";
const DATA = "_flash_data.";
const ERRORS = "_flash_errors.";
const MARK = "_flash_mark.";
export const INPUT_FIELD = "_flash_input";

/** The limit of the old input, and of the faults of one form: UTF-16 code units of names and values. */
const MAX_LENGTH = 32_768;

/** Patterns of the log's redaction that match contents in general. Forms have such fields, and their texts are not secrets. */
const OF_CONTENTS: ReadonlySet<string> = new Set(["bind", "body", "cache_value", "payload", "sql_args"]);
/** Names of secrets in forms, beside those of the log's redaction. */
const OF_FORMS = ["cvc", "passcode", "passphrase", "passwort", "kennwort", "security_code"];
/** Names of secrets that match only as whole words: `shipping` contains `pin`. */
const WORDS: ReadonlySet<string> = new Set(["mfa", "pass", "pin", "ssn"]);
const secrets = new RedactionPatterns([...DENY_LIST.filter((pattern) => !OF_CONTENTS.has(pattern)), ...OF_FORMS]);

/** A new field for a message. The order of the names is the order of time. */
export function createMessageField(now: number): string {
  const time = Math.max(0, Math.floor(now)).toString(36).padStart(9, "0");
  return `${MESSAGE}${time}.${nextSequence()}.${randomBytes(3).toString("hex")}`;
}

let count = 0;

/** Orders the messages of one millisecond. */
function nextSequence(): string {
  count = (count + 1) % 1_000_000;
  return String(count).padStart(6, "0");
}

export function dataField(key: string): string {
  return DATA + key;
}

export function errorsField(bag: string): string {
  return ERRORS + bag;
}

export function markField(name: string): string {
  return MARK + name;
}

export function isFlashField(name: string): boolean {
  return name === INPUT_FIELD || [MESSAGE, DATA, ERRORS, MARK].some((prefix) => name.startsWith(prefix));
}

/** The fields of a form, without secrets, and without the fields beyond the size limit. */
export function filterInput(fields: FormFields): FormFields {
  return takeFitting(Object.entries(removeSecrets(fields)));
}

function removeSecrets(fields: FormFields): FormFields {
  const selected = createTable<FormFields[string]>();
  for (const [name, value] of Object.entries(fields)) if (!isSecret(name)) selected[name] = filterValue(value);
  return selected;
}

/** In `user[password]` the inner name decides. */
function filterValue(value: FormFields[string]): FormFields[string] {
  if (typeof value !== "object" || value === null) return value;
  // The compiler does not tell a readonly list from an object.
  return Array.isArray(value) ? value.map(filterValue) : removeSecrets(value as FormFields);
}

/** The faults of a form, without those beyond the size limit. Their paths may come from the request. */
export function limitErrors(errors: FieldMessages): FieldMessages {
  return takeFitting(Object.entries(errors));
}

function takeFitting<T>(fields: readonly (readonly [name: string, value: T])[]): Record<string, T> {
  const selected = createTable<T>();
  let length = 0;
  for (const [name, value] of fields) {
    const size = name.length + measureSize(value);
    if (length + size > MAX_LENGTH) continue;
    length += size;
    selected[name] = value;
  }
  return selected;
}

/**
 * In UTF-16 code units of names and texts. JavaScript callers may pass any value; a value that JSON cannot hold is refused when it is
 * written.
 */
function measureSize(value: unknown): number {
  if (typeof value !== "object" || value === null) return String(value).length;
  return Object.entries(value).reduce(
    (size, [name, member]) => size + measureSize(member) + (Array.isArray(value) ? 0 : name.length),
    0,
  );
}

/** Also in camel case, as in `apiKey` and `newPass`. */
function isSecret(name: string): boolean {
  const snake = name.replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, "_");
  const words = snake.toLowerCase().split(/[^a-z\d]/);
  return words.some((word) => WORDS.has(word)) || secrets.matches(name) || secrets.matches(snake);
}

/** The flash among the values of a session. */
export function readFlash(values: ReadonlyMap<string, string>, isTaken: (name: string) => boolean): FlashContent {
  const names = [...values.keys()].filter((name) => isFlashField(name) && !isTaken(name)).toSorted();
  if (names.length === 0) return NO_FLASH;
  const messages: FlashMessage[] = [];
  const data = createTable<string>();
  const errors = createTable<FieldMessages>();
  const marks: string[] = [];
  let input: FormFields = NO_FLASH.input;
  for (const name of names) {
    const value = parseJson(values.get(name));
    if (name === INPUT_FIELD) input = withoutPrototype(value) as FormFields;
    else if (name.startsWith(MESSAGE)) messages.push(...parseMessage(value));
    else if (name.startsWith(DATA)) data[name.slice(DATA.length)] = String(value);
    else if (name.startsWith(ERRORS)) errors[name.slice(ERRORS.length)] = withoutPrototype(value) as FieldMessages;
    else marks.push(name.slice(MARK.length));
  }
  return { messages, data, errors, input, marks };
}

/** The list `_flash` or the map `_flash_data`; `undefined` for any other name, and for an empty one. */
export function readFlashValue(name: string, values: ReadonlyMap<string, string>): unknown {
  const { messages, data } = readFlash(values, () => false);
  if (name === "_flash") return messages.length === 0 ? undefined : messages;
  return name === "_flash_data" && Object.keys(data).length > 0 ? data : undefined;
}

/** The oldest messages beyond the `most` newest. */
export function findSurplusMessages(values: ReadonlyMap<string, string>, max: number): readonly string[] {
  const names = [...values.keys()].filter((name) => name.startsWith(MESSAGE)).toSorted();
  return names.slice(0, Math.max(0, names.length - max));
}

function parseMessage(value: unknown): readonly FlashMessage[] {
  const { level, message } = (value ?? {}) as Partial<FlashMessage>;
  return isLevel(level) && typeof message === "string" ? [{ level, message }] : [];
}

export function isLevel(level: unknown): level is FlashLevel {
  return (FLASH_LEVELS as readonly unknown[]).includes(level);
}

/** A text that is not JSON comes from another program, and counts as missing. */
function parseJson(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}

function withoutPrototype(value: unknown): Record<string, unknown> {
  return Object.assign(createTable<unknown>(), typeof value === "object" ? value : undefined);
}

function createTable<T>(): Record<string, T> {
  return Object.create(null) as Record<string, T>;
}
