/**
 * The body of a request by the contract of its endpoint: of one content, or of several that the media type of the request chooses from.
 * A body of another media type, or without one, is a 415.
 */
import {
  copyBytes,
  findOtherType,
  getMediaType,
  isJsonType,
  readForm,
  readNestedJson,
  readText,
} from "../http/body/body-reader.js";
import { createUnsupportedTypeError } from "../http/body/unsupported-type.js";
import type { Context } from "../http/request/context.js";
import { Content } from "../endpoints/content.js";
import { isSchema, type Schema } from "../runtime/standard-schema.js";
import { hasNoBody } from "./left-out.js";
import { createFormSchema, toUploadLimits } from "./multipart-body.js";
import { keepTexts, type WireConverter } from "./wire-value.js";

/** One content of a body. */
export interface BodyContent {
  readonly type: string;
  /** `undefined` for a content without a schema. */
  readonly schema: Schema | undefined;
  /** Of a form with files: the schema of its texts, and the names of its files. */
  readonly texts?: Schema;
  readonly files?: readonly string[];
  readonly convert: WireConverter;
  readonly read: (ctx: Context) => Promise<unknown>;
}

const JSON_TYPE = "application/json";

/** @returns `undefined` for a declaration that no body can have, or none of its media type */
export function createBodyContent(
  declared: unknown,
  compile: (schema: Schema) => WireConverter,
  type?: string,
): BodyContent | undefined {
  if (isSchema(declared)) {
    if (type !== undefined && !isJsonType(type)) return undefined;
    return { type: type ?? JSON_TYPE, schema: declared, convert: keepTexts, read: readNestedJson };
  }
  if (!(declared instanceof Content)) return undefined;
  const { kind, schema, files = {} } = declared;
  const expected = type ?? declared.type ?? "";
  if (schema !== undefined && expected !== declared.type) return undefined;
  const shared = { type: expected, schema, convert: keepTexts };
  if (kind === "form" && schema !== undefined)
    return { ...shared, convert: compile(schema), read: (ctx) => readForm(ctx) };
  if (kind === "multipart" && schema !== undefined) {
    const limits = toUploadLimits(files, declared.limits);
    return {
      ...shared,
      texts: schema,
      files: Object.keys(files),
      schema: createFormSchema(schema, compile(schema), files),
      read: (ctx) => refuseOther(ctx, expected) ?? ctx.uploadReader.readUploads(ctx, undefined, limits),
    };
  }
  if (kind === "text") return { ...shared, read: (ctx) => refuseOther(ctx, expected) ?? readText(ctx) };
  if (kind === "bytes") return { ...shared, read: (ctx) => refuseOther(ctx, expected) ?? copyBytes(ctx) };
  return undefined;
}

/** Returns the content of the request. @throws UnsupportedMediaTypeError where the endpoint takes several contents, and none of this type */
export function chooseContent(contents: readonly BodyContent[], ctx: Context): BodyContent {
  const [first] = contents;
  if (contents.length === 1 && first !== undefined) return first;
  const header = ctx.incoming.headers["content-type"];
  const found = header === undefined ? undefined : contents.find(({ type }) => type === getMediaType(header));
  if (found !== undefined) return found;
  if (hasNoBody(ctx) && first?.schema !== undefined) return first;
  const expected = contents.map(({ type }) => type).join(" or ");
  throw createUnsupportedTypeError(header, expected, `Expected ${expected}.`);
}

function refuseOther(ctx: Context, expected: string): Promise<never> | undefined {
  const fault = findOtherType(ctx, expected);
  return fault === undefined ? undefined : Promise.reject(fault);
}
