/**
 * The readers of a request body: JSON, forms, text and bytes. A body that breaks a rule is an error with a status (400, 413, 415, 422).
 * `collected-body.ts` collects the bytes, once for all readers.
 */
import { PayloadTooLargeError, BadRequestError, MalformedJsonError } from "../../errors/framework-error.js";
import type { Exchange } from "../request/exchange.js";
import { markHandled } from "../../runtime/mark-handled.js";
import { isBodyRead, readBody } from "./collected-body.js";
import { type FormFields, isPlainName, nestFields } from "./form-fields.js";
import { refusePrototypeNames } from "./prototype-names.js";
import { validate } from "./validate.js";
import type { Schema } from "../../runtime/standard-schema.js";
import { createUnsupportedTypeError } from "./unsupported-type.js";

/**
 * The fields of a form or a query (`a=1&b=2`), as an object without a prototype: a field may be named `__proto__`. A repeated key has
 * a list of values. More than a thousand fields are refused. Decoding follows the urlencoded parser of the URL standard.
 */
export type FieldValues = Readonly<Record<string, string | readonly string[]>>;

/** The maximum of fields that are read. */
export const MAX_FIELDS = 1000;

export function parseFields(text: string): FieldValues {
  const fields = Object.create(null) as Record<string, string | string[]>;
  if (text === "") return fields;
  refuseTooMany(text);
  for (const [name, value] of new URLSearchParams(text)) {
    const before = fields[name];
    if (before === undefined) fields[name] = value;
    else if (typeof before === "string") fields[name] = [before, value];
    else before.push(value);
  }
  return fields;
}

/** The fields with lists and objects. @throws BadRequestError, PayloadTooLargeError, ValidationError */
function parseForm(text: string): FormFields {
  const fields = parseFields(text);
  // Most forms have only plain names.
  return Object.keys(fields).every(isPlainName) ? fields : nestFields(new URLSearchParams(text));
}

function refuseTooMany(text: string): void {
  let count = 1;
  for (let at = text.indexOf("&"); at >= 0; at = text.indexOf("&", at + 1)) {
    count += 1;
    if (count > MAX_FIELDS) throw new PayloadTooLargeError(`More than ${MAX_FIELDS} fields.`);
  }
}

/** The maximum of bytes that are read, unless a stage or a route sets another limit: 2 MiB. */
export const DEFAULT_READ_LIMIT = 2_097_152;

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function readJson(ctx: Exchange, schema?: Schema): Promise<unknown> {
  return read(ctx, "application/json", isJson, parseJson, schema);
}

export function readForm(ctx: Exchange, schema?: Schema): Promise<unknown> {
  return read(ctx, "application/x-www-form-urlencoded", isUrlencoded, parseFormBody, schema);
}

/** The maximum of lists and objects inside each other in a body that is checked with the contract of an endpoint. */
const MAX_DEPTH = 64;

/** The body as JSON, for a schema that is called by the caller. Schemas follow the value by recursion, so its depth is limited. */
export function readNestedJson(ctx: Exchange): Promise<unknown> {
  return read(ctx, "application/json", isJson, parseNestedJson, undefined);
}

function parseNestedJson(bytes: Buffer): unknown {
  const text = decode(bytes);
  const value = parseSafeJson(text);
  if (hasBrackets(text, MAX_DEPTH) && isDeeperThan(value, MAX_DEPTH))
    throw new BadRequestError(`The request body has more than ${MAX_DEPTH} lists and objects inside each other.`);
  return value;
}

/** Whether the text has more than `count` opening brackets. Few bodies have, and only these can be so deep. */
function hasBrackets(text: string, count: number): boolean {
  let left = count;
  for (const bracket of ["{", "["])
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) if (left-- === 0) return true;
  return false;
}

function isDeeperThan(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (depth === 0) return true;
  for (const name in value) if (isDeeperThan((value as Record<string, unknown>)[name], depth - 1)) return true;
  return false;
}

/** Validates in the flow of the caller, because the schema is code of the application. */
function read(
  ctx: Exchange,
  expected: string,
  accepts: (type: string) => boolean,
  parse: (bytes: Buffer) => unknown,
  schema: Schema | undefined,
): Promise<unknown> {
  const fault = findTypeFault(ctx, accepts, expected);
  if (fault !== undefined) return markHandled(Promise.reject(fault));
  const reading = readBody(ctx, parse);
  return schema === undefined ? reading : markHandled(reading.then((value) => validate(schema, value)));
}

export function isJsonType(contentType: string | undefined): boolean {
  return contentType !== undefined && isJson(getMediaType(contentType));
}

/** Whether a reader has asked for the body of an urlencoded form. */
export function isFormRead(ctx: Exchange): boolean {
  const type = ctx.incoming.headers["content-type"] ?? "";
  return isBodyRead(ctx) && isUrlencoded(getMediaType(type));
}

function parseFormBody(bytes: Buffer): FormFields {
  const text = decode(bytes);
  refuseBadEncoding(text);
  return parseForm(text);
}

/** @returns an error with status 415 for a request of another media type @internal */
export function findOtherType({ incoming: { headers } }: Exchange, expected: string): Error | undefined {
  const header = headers["content-type"];
  if (header !== undefined && getMediaType(header) === expected) return undefined;
  return createUnsupportedTypeError(header, expected, `Expected ${expected}.`);
}

export function readText(ctx: Exchange): Promise<string> {
  const fault = findCharsetFault(ctx.incoming.headers["content-type"] ?? "");
  return fault === undefined ? readBody(ctx, decode) : markHandled(Promise.reject(fault));
}

/** Returns a copy, so that a change by the caller does not reach the next reader. */
export function copyBytes(ctx: Exchange): Promise<Buffer> {
  return readBody(ctx, (bytes) => Buffer.from(bytes));
}

/** The body's bytes, within the limit; the same for every reader. @internal */
export function readBytes(ctx: Exchange): Promise<Buffer> {
  return readBody(ctx, (bytes) => bytes);
}

/** @param query without its `?` */
export function readSearch(query: string, schema?: Schema): FormFields | Promise<unknown> {
  const fields = parseForm(query);
  return schema === undefined ? fields : markHandled(validate(schema, fields));
}

function decode(bytes: Buffer): string {
  // Most bodies are ASCII, where the conversion of Node is several times faster than the checking decoder.
  const text = bytes.toString("utf8");
  if (!text.includes("\ufffd")) return text;
  try {
    return strictUtf8.decode(bytes);
  } catch (cause) {
    throw new BadRequestError("The request body is not UTF-8.", { cause });
  }
}

/** Refuses an invalid percent-encoding, and one that is not UTF-8. The URL standard's parser would put replacement characters there. */
function refuseBadEncoding(text: string): void {
  if (!text.includes("%")) return;
  try {
    decodeURIComponent(text);
  } catch {
    throw new BadRequestError("The form is not valid percent-encoded UTF-8.");
  }
}

function parseJson(bytes: Buffer): unknown {
  return parseSafeJson(decode(bytes));
}

function parseSafeJson(text: string): unknown {
  const value = parseJsonText(text);
  refusePrototypeNames(value, text);
  return value;
}

function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // V8's message quotes a part of the body, which must not be logged.
    throw new MalformedJsonError(text === "" ? "The request body is empty." : "The request body is not valid JSON.");
  }
}

function findTypeFault(ctx: Exchange, accepts: (type: string) => boolean, expected: string): Error | undefined {
  const header = ctx.incoming.headers["content-type"];
  // Nearly every client sends exactly this text, which needs no parsing.
  if (header === expected) return undefined;
  if (header === undefined)
    return createUnsupportedTypeError(undefined, expected, `The request has no Content-Type; expected ${expected}.`);
  if (!accepts(getMediaType(header))) return createUnsupportedTypeError(header, expected, `Expected ${expected}.`);
  return findCharsetFault(header);
}

/** The media type without parameters, in lower case. */
export function getMediaType(header: string): string {
  const semicolon = header.indexOf(";");
  return (semicolon < 0 ? header : header.slice(0, semicolon)).trim().toLowerCase();
}

function isJson(type: string): boolean {
  return type === "application/json" || (type.startsWith("application/") && type.endsWith("+json") && type.length > 17);
}

function isUrlencoded(type: string): boolean {
  return type === "application/x-www-form-urlencoded";
}

function findCharsetFault(header: string): Error | undefined {
  for (const parameter of header.split(";").slice(1)) {
    const [name = "", value = ""] = parameter.split("=", 2);
    if (name.trim().toLowerCase() !== "charset") continue;
    const charset = value.trim().replaceAll('"', "").toLowerCase();
    if (charset !== "utf-8" && charset !== "utf8")
      return createUnsupportedTypeError(
        header,
        "utf-8",
        "The request body has a charset that is not read; send utf-8.",
      );
  }
  return undefined;
}
