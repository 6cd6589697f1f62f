/**
 * Reads the body of a request once, up to a limit. The bytes are stored, so that a second reader gets them too. A body that breaks a rule
 * is an error with a status (400, 413, 415, 422). A compressed body is refused.
 */
import {
  PayloadTooLargeError,
  BadRequestError,
  FrameworkError,
  MalformedJsonError,
  type UnsupportedMediaTypeError,
} from "../../errors/framework-error.js";
import type { Exchange } from "../request/exchange.js";
import { Extension } from "../request/extension.js";
import { markHandled } from "../../runtime/mark-handled.js";
import { type FormFields, isPlainName, nestFields } from "./form-fields.js";
import { refusePrototypeNames } from "./prototype-names.js";
import { validate, type Schema } from "./schema.js";
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

/**
 * The number of chunks that are collected before they are joined. A chunk costs over a hundred bytes besides its content, which may be a
 * single byte.
 */
const MAX_CHUNKS = 1024;

const BodyBytes = new Extension<Promise<Buffer>>("request body");
const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function readJson(ctx: Exchange, schema?: Schema): Promise<unknown> {
  return markHandled(parseJsonBody(ctx, schema));
}

async function parseJsonBody(ctx: Exchange, schema: Schema | undefined): Promise<unknown> {
  expectMediaType(ctx, isJson, "application/json");
  const text = decode(await readBytes(ctx));
  const value = parseJson(text);
  return schema === undefined ? value : validate(schema, value);
}

export function readForm(ctx: Exchange, schema?: Schema): Promise<unknown> {
  return markHandled(parseFormBody(ctx, schema));
}

export function isJsonType(contentType: string | undefined): boolean {
  return contentType !== undefined && isJson(getMediaType(contentType));
}

/** Whether a reader has asked for the body of an urlencoded form. */
export function isFormRead(ctx: Exchange): boolean {
  const type = ctx.incoming.headers["content-type"] ?? "";
  return BodyBytes.find(ctx) !== undefined && isUrlencoded(getMediaType(type));
}

async function parseFormBody(ctx: Exchange, schema: Schema | undefined): Promise<unknown> {
  expectMediaType(ctx, isUrlencoded, "application/x-www-form-urlencoded");
  const text = decode(await readBytes(ctx));
  refuseBadEncoding(text);
  const fields = parseForm(text);
  return schema === undefined ? fields : validate(schema, fields);
}

export function readText(ctx: Exchange): Promise<string> {
  return markHandled(decodeTextBody(ctx));
}

async function decodeTextBody(ctx: Exchange): Promise<string> {
  expectUtf8(ctx.incoming.headers["content-type"] ?? "");
  return decode(await readBytes(ctx));
}

/** Returns a copy, so that a change by the caller does not reach the next reader. */
export function copyBytes(ctx: Exchange): Promise<Buffer> {
  return markHandled(readBytes(ctx).then((bytes) => Buffer.from(bytes)));
}

/** @param query without its `?` */
export function readSearch(query: string, schema?: Schema): FormFields | Promise<unknown> {
  const fields = parseForm(query);
  return schema === undefined ? fields : markHandled(validate(schema, fields));
}

/** The body's bytes, within the limit; the same promise for every reader. @internal */
export function readBytes(ctx: Exchange): Promise<Buffer> {
  const known = BodyBytes.find(ctx);
  if (known !== undefined) return known;
  const reading = collect(ctx);
  BodyBytes.set(ctx, reading);
  return reading;
}

function collect(ctx: Exchange): Promise<Buffer> {
  const { incoming } = ctx;
  const limit = ctx.bodyLimit ?? ctx.readLimit;
  const coding = incoming.headers["content-encoding"];
  if (coding !== undefined && coding.trim().toLowerCase() !== "identity") {
    return Promise.reject(createCodedBodyError(coding));
  }
  const transfer = incoming.headers["transfer-encoding"];
  // A server of the framework has already refused this request. With `callback()` the server is the caller's.
  if (transfer !== undefined && transfer.toLowerCase() !== "chunked") {
    return Promise.reject(new BadRequestError("The request has a Transfer-Encoding that is not read."));
  }
  if (Number(incoming.headers["content-length"] ?? 0) > limit) return Promise.reject(createTooLargeError(limit));
  if (incoming.readableEnded) return Promise.resolve(Buffer.alloc(0));
  if (incoming.destroyed) return Promise.reject(incoming.errored ?? createBrokenOffError());
  return new Promise((resolve, reject) => gather(ctx, limit, resolve, reject));
}

function gather(
  ctx: Exchange,
  limit: number,
  resolve: (bytes: Buffer) => void,
  reject: (error: unknown) => void,
): void {
  const { incoming } = ctx;
  const chunks: Buffer[] = [];
  let size = 0;
  let joined = 0;
  const stop = (): void => {
    incoming.off("data", onData).off("end", onEnd).off("error", onError).off("close", onClose);
  };
  const onData = (chunk: Buffer): void => {
    size += chunk.length;
    chunks.push(chunk);
    if (chunks.length - joined === MAX_CHUNKS) chunks.push(Buffer.concat(chunks.splice(joined++)));
    if (size <= limit) return;
    stop();
    incoming.pause();
    reject(createTooLargeError(limit));
  };
  // The listeners are not removed here: they are collected with the request, and removing them would cost time for each body.
  const onEnd = (): void => {
    resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, size));
  };
  const onError = (error: unknown): void => {
    reject(ctx.isClientGone ? ctx.abortSignal.reason : error);
  };
  const onClose = (): void => {
    if (!incoming.readableEnded)
      reject(ctx.isClientGone ? ctx.abortSignal.reason : new BadRequestError("The request body ended early."));
  };
  incoming.on("data", onData).on("end", onEnd).on("error", onError).on("close", onClose);
}

/** The error for a body with a content coding. The readers never decompress a body. */
export function createCodedBodyError(coding: string): UnsupportedMediaTypeError {
  return createUnsupportedTypeError(
    coding,
    "no Content-Encoding",
    "The request has a Content-Encoding, and none is read.",
  );
}

export function createTooLargeError(limit: number): PayloadTooLargeError {
  return new PayloadTooLargeError(`The request body is larger than ${limit} bytes.`);
}

/** The error for a stream of which other code has read a part. */
function createBrokenOffError(): FrameworkError {
  return new FrameworkError(
    "the request's body was partly read already, and cannot be read again: read it by one way, ctx.req or a reader",
    {
      code: "E_BODY_BROKEN_OFF",
    },
  );
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

function parseJson(text: string): unknown {
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

function expectMediaType(ctx: Exchange, accepts: (type: string) => boolean, expected: string): void {
  const header = ctx.incoming.headers["content-type"];
  // Nearly every client sends exactly this text, which needs no parsing.
  if (header === expected) return;
  if (header === undefined)
    throw createUnsupportedTypeError(undefined, expected, `The request has no Content-Type; expected ${expected}.`);
  if (!accepts(getMediaType(header))) throw createUnsupportedTypeError(header, expected, `Expected ${expected}.`);
  expectUtf8(header);
}

/** The media type without parameters, in lower case. */
function getMediaType(header: string): string {
  const semicolon = header.indexOf(";");
  return (semicolon < 0 ? header : header.slice(0, semicolon)).trim().toLowerCase();
}

function isJson(type: string): boolean {
  return type === "application/json" || (type.startsWith("application/") && type.endsWith("+json") && type.length > 17);
}

function isUrlencoded(type: string): boolean {
  return type === "application/x-www-form-urlencoded";
}

function expectUtf8(header: string): void {
  for (const parameter of header.split(";").slice(1)) {
    const [name = "", value = ""] = parameter.split("=", 2);
    if (name.trim().toLowerCase() !== "charset") continue;
    const charset = value.trim().replaceAll('"', "").toLowerCase();
    if (charset !== "utf-8" && charset !== "utf8") {
      throw createUnsupportedTypeError(header, "utf-8", "The request body has a charset that is not read; send utf-8.");
    }
  }
}
